"""Eigenvectors of L(alpha, gamma), and graphs rewired along them."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Union

import numpy as np

from dgat import _core
from dgat._arguments import part_numbers
from dgat._docs import shared
from dgat._graph import Graph, _array, _labels, as_graph
from dgat._options import settings_of
from dgat._plotted import Plotted


@dataclasses.dataclass(frozen=True, eq=False)
class Spectrum(Plotted):
    """The smallest positive eigenvalues of L(alpha, gamma) and their eigenvectors.

    Attributes
    ----------
    eigenvalues, residuals, gaps, angle_bounds : ndarray, shape (k,)
        Residuals are recomputed from the graph. A gap is the distance to the next eigenvalue, and
        residual / gap bounds the sine of the angle between the vector and the exact one.
    eigenvectors : ndarray, shape (N, k)
        Unit 2-norm, the entry of largest magnitude positive; column by column in memory.
    multiplicity : ndarray of int, shape (k,)
        Above 1: the vector is one of many, chosen by a fixed rule.
    participation_ratio : ndarray, shape (k,)
        The share of the nodes that a vector is concentrated on.
    converged : bool
        Whether every residual is small enough.
    alpha, gamma : float
    laplacian : str
        tuned, default or authors.
    solver : str
        The method that gave the result.
    iterations : int
    seconds : float
    components : str
        How components were treated: each, first, largest.
    num_components, num_isolated : int
        Connected components, and those of one node.
    """

    alpha: float
    gamma: float
    eigenvectors: np.ndarray
    eigenvalues: np.ndarray
    residuals: np.ndarray
    gaps: np.ndarray
    angle_bounds: np.ndarray
    multiplicity: np.ndarray
    participation_ratio: np.ndarray
    converged: bool
    solver: str
    iterations: int
    seconds: float
    num_components: int
    num_isolated: int
    components: str
    laplacian: str = "tuned"

    def __repr__(self) -> str:
        state = "" if self.converged else ", converged=False"
        values = np.array2string(self.eigenvalues[:4], precision=6)
        return f"Spectrum(alpha={self.alpha:g}, gamma={self.gamma:g}, eigenvalues={values}{state})"


@shared
def spectrum(
    graph: Any,
    *,
    alpha: float = 1.0,
    gamma: float = 0.3,
    k: int = 1,
    laplacian: str = "tuned",
    components: str = "each",
    solver: str = "auto",
    seed: int = 0,
) -> Spectrum:
    """The eigenvectors that give a graph its directions.

    L(alpha, gamma) = gamma M^-alpha (D - A) M^(alpha-1) with M = gamma D + (1 - gamma) I.

    Parameters
    ----------
    graph : Graph, Dataset, or what a Graph can be made from
        A directed graph is made undirected first.
    alpha : float
        Side balance in [0, 1]: 0.5 symmetric, 1 random walk.
    gamma : float
        Degree weight in [0, 1]: 1 normalised, 0 the limit D - A.
    k : int
        How many eigenvectors, smallest eigenvalue first. Where the graph has fewer, the rest are zero,
        with multiplicity 0.
    %(laplacian)s
    %(components)s
    solver : {'auto', 'dense', 'factor', 'multigrid', 'davidson', 'lanczos'}
        auto chooses by the graph and tries another one where the first is not accurate enough.
    %(direction_seed)s

    Returns
    -------
    Spectrum
        ``converged`` is False where no method was accurate enough.

    Raises
    ------
    ValueError
        An option is out of range.

    Examples
    --------
    The path of three nodes has the eigenvalues 1 and 2 at gamma = 1.

    >>> import dgat
    >>> path = dgat.Graph.from_edge_index([[0, 1], [1, 2]])
    >>> dgat.spectrum(path, gamma=1, k=2).eigenvalues.round(6)
    array([1., 2.])
    """
    graph = as_graph(graph)
    settings = settings_of(
        {"laplacian": laplacian, "alpha": alpha, "gamma": gamma, "eigenvectors": k, "components": components, "seed": seed}
    )
    return Spectrum(**_core.spectrum(graph._csr, settings, solver), laplacian=laplacian)


@dataclasses.dataclass(frozen=True, eq=False)
class Rewired(Plotted):
    """A rewired graph with its directional edge features.

    Attributes
    ----------
    graph : Graph
    edge_index : ndarray of int64, shape (2, M)
        Sources and targets, PyTorch Geometric's order. Self loops are included unless they were
        switched off, so that ``GATConv(..., add_self_loops=False)`` is right.
    edge_attr : ndarray of float32, shape (M, 2 k)
        For each eigenvector the smoothing weight and the derivative: ``abs(g)`` and ``g``, where g is the
        row-normalised slope of phi.
    report : dict
        What was dropped and added, the threshold in use, components and homophily before and after.
    before : Graph
        The graph that was rewired.
    phi : ndarray, shape (N, k)
        The eigenvectors that it was rewired along.
    """

    graph: Graph
    edge_index: np.ndarray
    edge_attr: np.ndarray
    report: dict[str, Any]
    before: Graph
    phi: np.ndarray

    def distances(self) -> np.ndarray:
        """The spectral distance of the ends of every edge before rewiring.

        Returns
        -------
        ndarray
            The 2-norm of phi_i - phi_j, once per edge, in increasing order.

        Examples
        --------
        >>> import dgat
        >>> path = dgat.Graph.from_edge_index([[0, 1], [1, 2]])
        >>> dgat.rewire(path, [0.0, 1.0, 3.0], mode="none").distances()
        array([1., 2.])
        """
        source, target = self.before.edge_index
        once = source < target
        return np.sort(np.linalg.norm(self.phi[source[once]] - self.phi[target[once]], axis=1))

    def __repr__(self) -> str:
        r = self.report
        return f"Rewired({r['mode']}: {r['edges_before']} - {r['dropped']} + {r['added']} = {r['edges_after']} edges)"


def _training_labels(nodes: int, y: Any, train: Any) -> np.ndarray:
    if y is None:
        return np.full(nodes, -1, dtype=np.int32)
    labels = _labels(y, nodes)
    if train is None:
        return labels
    chosen = part_numbers(train, nodes, "train")
    visible = np.full(nodes, -1, dtype=np.int32)
    visible[chosen] = labels[chosen]
    return visible


@shared
def rewire(
    graph: Any,
    phi: Any,
    *,
    mode: str = "prune-far+add",
    epsilon: Union[float, str, None] = None,
    y: Any = None,
    train: Any = None,
    self_loops: bool = True,
) -> Rewired:
    """Drops and adds edges by spectral distance and makes directional edge features.

    Parameters
    ----------
    graph : Graph, Dataset, or what a Graph can be made from
        Undirected. Its edge weights have had their effect on phi; the rewired graph has none.
    phi : Spectrum, array_like of shape (N,) or (N, k), or dict
        The eigenvectors to rewire along. A dict with alpha, gamma, rewire and epsilon, such as
        ``dgat.advise(data).best``, stands for a spectrum, mode and epsilon. It may have laplacian,
        components and seed.
    %(mode)s
    %(epsilon)s
    y : array_like of int, shape (N,), optional
        Labels; needed for mode auto and for the homophily of the report.
    train : array_like, optional
        Mask or numbers of the training nodes; only their labels are read. Default: all of ``y``.
    self_loops : bool
        Whether ``edge_index`` has a self loop for every node.

    Returns
    -------
    Rewired

    Raises
    ------
    ValueError
        Unknown mode, threshold out of range, a directed graph, or mode auto without labels.

    Examples
    --------
    >>> import dgat
    >>> g = dgat.Graph.from_edge_index([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    >>> r = dgat.rewire(g, dgat.spectrum(g), mode="add")
    >>> r.report["added"], r.edge_index.shape, r.edge_attr.shape
    (5, (2, 26), (26, 2))
    >>> dgat.rewire(g, {"gamma": 0.3, "alpha": 1, "rewire": "prune-far+add", "epsilon": "q0.8"})
    Rewired(prune-far+add: 5 - 1 + 5 = 9 edges)
    """
    graph = as_graph(graph)
    per_component = True
    if isinstance(phi, Mapping):
        mode, epsilon = phi["rewire"], phi["epsilon"]
        directions = ("alpha", "gamma", "laplacian", "components", "seed")
        phi = spectrum(graph, **{key: phi[key] for key in directions if key in phi})
    if isinstance(phi, Spectrum):
        per_component = phi.components == "each"
        phi = phi.eigenvectors
    vectors = _array(phi).astype(np.float64, copy=False)
    vectors = vectors.reshape(-1, 1) if vectors.ndim == 1 else vectors
    if not np.isfinite(vectors).all():
        raise ValueError(f"phi: NaN or inf at node {np.argwhere(~np.isfinite(vectors))[0, 0]}")
    threshold: Optional[str] = None if epsilon is None or epsilon == "auto" else str(epsilon)
    labels = _training_labels(graph.num_nodes, y, train)
    out = _core.rewire(graph._csr, vectors, mode, threshold, per_component, labels, self_loops)
    return Rewired(Graph(out["graph"]), out["edge_index"], out["edge_attr"], out["report"], graph, vectors)
