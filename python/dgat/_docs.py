"""What the documentation of several functions has in common: parameters, and the first lines of examples."""

from __future__ import annotations

from typing import TypeVar

_TEXTS = {
    "data": """\
data : Dataset or str
    A data set, or a path or name for :func:`load`.""",
    "out": """\
out : str or path, optional
    Folder of the ledger and the tables. The same call continues what was interrupted. Default:
    nothing is kept.""",
    "budget": """\
budget : str or float, optional
    Start no trial after this time: "2h", "90m", or seconds.""",
    "choose_on": """\
choose_on : int
    Depths and candidates compete on the first so many splits only; 0: on all.""",
    "progress": """\
progress : bool
    Shows progress, with tqdm where it is installed.""",
    "study": """\
%(out)s
%(budget)s
%(choose_on)s
%(progress)s""",
    "directed": """\
directed : bool
    Keep arcs as they are instead of adding the reverse of each.""",
    "num_nodes": """\
num_nodes : int, optional
    Default: the largest node plus one.""",
    "weighted": """\
weighted : bool
    Whether ``data.edge_weight`` is used.""",
    "components": """\
components : {'each', 'first', 'largest'}
    Eigenvectors of a disconnected graph: of each component, of the whole graph, or of the
    largest component.""",
    "laplacian": """\
laplacian : {'tuned', 'default', 'authors'}
    L(alpha, gamma); the random-walk Laplacian, whatever alpha and gamma say; or the operator in
    the code of the paper's authors, for comparison.""",
    "direction_seed": """\
seed : int
    Chooses inside a repeated eigenvalue.""",
    "mode": """\
{name} : str
    none, auto, prune-near, prune-far, add, hub, or a pair such as prune-far+add. auto reads the
    labels of training nodes.""",
    "epsilon": """\
epsilon : float or str, optional
    Pruning threshold: a distance, or a quantile such as "q0.8". Default: a tenth of the edges
    is dropped.""",
    "split": """\
split : int
    The number of a split of the data set.""",
    "nodes": """\
X : array_like of int, Dataset, or array_like of shape (N, F), optional
    Node numbers of the graph of training; default all. Another graph: a data set, or
    features with ``edge_index`` or ``graph``.""",
    "other_graph": """\
edge_index : array_like, shape (2, E), optional
    The edges of another graph, sources and targets.
graph : Graph, optional
    Another graph.""",
    "blocks": """\
>>> import dgat
>>> d = dgat.generate("csbm", nodes=100, splits=2)""",
    "fitted": """\
%(blocks)s
>>> clf = dgat.DGATClassifier(hidden=8, heads=2, layers=1, steps=5).fit(d)""",
}

Documented = TypeVar("Documented")


def _filled(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        start, marker, rest = line.partition("%(")
        if not marker:
            lines.append(line)
            continue
        key, _, name = rest[: -len(")s")].partition(":")
        inner = _filled(_TEXTS[key]).replace("{name}", name or key)
        lines += [(start + part).rstrip() for part in inner.split("\n")]
    return "\n".join(lines)


def shared(thing: Documented) -> Documented:
    """Puts the texts of ``%(data)s`` and so on into a docstring; ``%(mode:rewire)s`` renames the parameter."""
    if thing.__doc__:  # there is none under python -OO
        thing.__doc__ = _filled(thing.__doc__)
    return thing
