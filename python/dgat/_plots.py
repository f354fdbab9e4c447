"""Drawings; the only place that imports matplotlib."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dgat._advice import Advice
from dgat._estimator import Attention, History
from dgat._spectral import Rewired, Spectrum


def plot(what: Any, ax: Any = None) -> Any:
    """Draws on new axes where none are given, with a legend where lines have names."""
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.subplots()[1]
    xlabel, ylabel = _draw(what, ax)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax


@functools.singledispatch
def _draw(what: Any, ax: Any) -> tuple[str, str]:
    """The names of the axes."""
    raise TypeError(f"plot: no drawing for {type(what).__name__}")


@_draw.register(Spectrum)
def _draw_spectrum(spectrum: Spectrum, ax: Any) -> tuple[str, str]:
    for m, value in enumerate(spectrum.eigenvalues):
        ax.plot(np.sort(spectrum.eigenvectors[:, m]), label=f"eigenvalue {value:.4g}")
    return "nodes, sorted", "entry of the eigenvector"


@_draw.register(Rewired)
def _draw_distances(rewired: Rewired, ax: Any) -> tuple[str, str]:
    ax.hist(rewired.distances(), bins=50)
    if "prune" in rewired.report["mode"]:
        ax.axvline(rewired.report["epsilon"], linestyle="--", color="black", label="threshold")
    return "spectral distance", "edges"


@_draw.register(Advice)
def _draw_gammas(advice: Advice, ax: Any) -> tuple[str, str]:
    rows = sorted(advice.gammas, key=lambda row: row["gamma"])
    ax.plot([row["gamma"] for row in rows], [row["score"] for row in rows], "o-")
    ax.set_xscale("symlog", linthresh=min((row["gamma"] for row in rows if row["gamma"] > 0), default=1))  # shows gamma 0
    ax.axhline(advice.reference["score"], linestyle="--", label="graph as it is")
    return "gamma", "score of the best candidate"


@_draw.register(History)
def _draw_history(history: History, ax: Any) -> tuple[str, str]:
    for part in ("train", "val"):
        ax.plot(history["step"], history[part], label=part)
    return "step", "metric"


@_draw.register(Attention)
def _draw_attention(attention: Attention, ax: Any) -> tuple[str, str]:
    for head, weights in enumerate(attention.weights.T):
        ax.hist(weights, bins=50, histtype="step", label=f"head {head}")
    return "attention weight", "arcs"
