"""Directional Graph Attention Network: spectra, rewiring and bit-reproducible training on a CPU.

>>> import dgat
>>> g = dgat.Graph.from_edge_index([[0, 1, 2, 3], [1, 2, 3, 0]])
>>> s = dgat.spectrum(g, gamma=0.3)
>>> s.converged
True

The options of training have the names, defaults and ranges of the command line: ``dgat.options()``.
Input that cannot be used raises ValueError, a computation that fails RuntimeError.
"""

from dgat._advice import Advice, advise
from dgat._classifier import DGATClassifier, NodeClassifier, load_model
from dgat._core import version as __version__
from dgat._dataset import Dataset, load
from dgat._generate import generate
from dgat._graph import Graph, homophily
from dgat._messages import Notice
from dgat._options import models, options, set_threads
from dgat._page import Page, explore, report
from dgat._spectral import Rewired, Spectrum, rewire, spectrum
from dgat._studies import Search, Study, ablate, compare, reproduce, tune

__all__ = [
    "Advice", "DGATClassifier", "Dataset", "Graph", "NodeClassifier", "Notice", "Page", "Rewired",
    "Search", "Spectrum", "Study", "ablate", "advise", "compare", "explore", "generate", "homophily", "load",
    "load_model", "models", "options", "report", "reproduce", "rewire", "set_threads", "spectrum",
    "tune",
]
