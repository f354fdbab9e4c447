"""Graphs."""

from __future__ import annotations

import operator
from typing import Any, Optional

import numpy as np

from dgat import _core
from dgat._docs import shared


def _array(values: Any) -> np.ndarray:
    """NumPy arrays, lists and tensors of torch (also on a GPU) as a NumPy array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values)


def _index_array(values: Any, name: str) -> np.ndarray:
    """Whole numbers as int64."""
    array = _array(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype == object:  # pandas' columns of whole numbers that may be missing
        array = np.asarray(array.tolist())
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all():
        return array.astype(np.int64)
    remedy = "; numpy.unique numbers names" if array.dtype.kind in "US" else ""
    raise ValueError(f"{name}: whole numbers were expected, got values of type {array.dtype}{remedy}")


class Graph:
    """A simple graph in compressed sparse rows, immutable.

    Row i holds the nodes that node i receives from, in increasing order. An undirected graph holds
    both directions of every edge. Make one with :meth:`from_edge_index`, :meth:`from_scipy`,
    :meth:`from_networkx`, :meth:`from_pandas` or :meth:`from_pyg`.

    Attributes
    ----------
    indptr : ndarray of int64, shape (num_nodes + 1,)
        Where the rows begin; a read-only view.
    indices : ndarray of int32, shape (num_arcs,)
        The neighbours, row after row; a read-only view.
    weights : ndarray of float32, shape (num_arcs,), or None
        Edge weights in the order of ``indices``; a read-only view. None: all are 1.
    dropped_self_loops, dropped_duplicates : int
        What was left out when the graph was made.

    Examples
    --------
    >>> import dgat
    >>> g = dgat.Graph.from_edge_index([[0, 1, 1], [1, 2, 0]])
    >>> g
    Graph(num_nodes=3, num_edges=2)
    >>> g.indices
    array([1, 0, 2, 1], dtype=int32)
    """

    __slots__ = ("_csr", "dropped_self_loops", "dropped_duplicates", "__weakref__")

    def __init__(self, csr: Any, dropped_self_loops: int = 0, dropped_duplicates: int = 0) -> None:
        if not isinstance(csr, _core.CsrGraph):
            raise TypeError("Graph: use Graph.from_edge_index or another of the from_ functions")
        self._csr = csr
        self.dropped_self_loops = dropped_self_loops
        self.dropped_duplicates = dropped_duplicates

    @classmethod
    @shared
    def from_edge_index(
        cls, edge_index: Any, num_nodes: Optional[int] = None, *, edge_weight: Any = None, directed: bool = False
    ) -> Graph:
        """A graph from its edges.

        Parameters
        ----------
        edge_index : array_like of int, shape (2, E)
            Sources and targets, as PyTorch Geometric orders them; tensors of torch are accepted.
            Self loops and repeated edges are left out.
        %(num_nodes)s
        edge_weight : array_like of float, shape (E,), optional
            Positive weights. L(alpha, gamma), gcn, sage and pgcn use them. Of repeated edges the
            largest weight counts.
        %(directed)s

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat
        >>> dgat.Graph.from_edge_index([[0, 1], [1, 2]], num_nodes=4).num_nodes
        4
        >>> dgat.Graph.from_edge_index([[0, 1], [1, 2]], edge_weight=[2, 5]).weights
        array([2., 2., 5., 5.], dtype=float32)
        """
        index = _index_array(edge_index, "edge_index")
        if index.size == 0:
            index = index.reshape(2, 0)
        nodes = operator.index(num_nodes) if num_nodes is not None else int(index.max(initial=-1)) + 1
        weights = np.empty(0, dtype=np.float32) if edge_weight is None else _array(edge_weight)
        return cls(*_core.build_graph(index, weights, nodes, directed))

    @classmethod
    @shared
    def from_scipy(cls, matrix: Any, *, weighted: bool = False, directed: bool = False) -> Graph:
        """A graph from its adjacency matrix.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array_like, shape (N, N)
            An entry (i, j) that is not zero is an edge from i to j; repeated entries are added.
        weighted : bool
            Whether the entries are edge weights.
        %(directed)s

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat, scipy.sparse
        >>> dgat.Graph.from_scipy(scipy.sparse.eye(3, k=1)).num_edges
        2
        """
        import scipy.sparse

        rows = matrix.tocsr(copy=True) if scipy.sparse.issparse(matrix) else scipy.sparse.csr_matrix(_array(matrix))
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(f"from_scipy: an adjacency matrix is square, got {rows.shape[0]} x {rows.shape[1]}")
        rows.sum_duplicates()
        entries = rows.tocoo()
        there = entries.data != 0
        index = np.stack([entries.row[there], entries.col[there]])
        weights = entries.data[there] if weighted else None
        return cls.from_edge_index(index, rows.shape[0], edge_weight=weights, directed=directed)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, nodelist: Optional[list[Any]] = None, weight: Optional[str] = None
    ) -> Graph:
        """A graph from one of NetworkX; a DiGraph stays directed.

        Parameters
        ----------
        graph : networkx.Graph
        nodelist : list, optional
            The order of the nodes. Default: that of ``graph.nodes``.
        weight : str, optional
            The edge attribute that holds weights; an edge without it has weight 1.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat, networkx
        >>> dgat.Graph.from_networkx(networkx.path_graph(5)).num_edges
        4
        """
        nodes = list(graph.nodes) if nodelist is None else list(nodelist)
        number = {node: i for i, node in enumerate(nodes)}
        if len(number) < len(nodes):
            raise ValueError("from_networkx: nodelist names a node twice")
        if not all(node in graph for node in nodes):
            raise ValueError(f"from_networkx: {next(n for n in nodes if n not in graph)!r} of nodelist is not in the graph")
        edges = [edge for edge in graph.edges(data=weight, default=1) if edge[0] in number and edge[1] in number]
        pairs = [(number[edge[0]], number[edge[1]]) for edge in edges]
        index = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        weights = None if weight is None else np.asarray([edge[2] for edge in edges], dtype=np.float32)
        return cls.from_edge_index(index, len(nodes), edge_weight=weights, directed=graph.is_directed())

    @classmethod
    @shared
    def from_pandas(
        cls,
        frame: Any,
        source: str,
        target: str,
        *,
        weight: Optional[str] = None,
        num_nodes: Optional[int] = None,
        directed: bool = False,
    ) -> Graph:
        """A graph from two columns of a data frame.

        Parameters
        ----------
        frame : pandas.DataFrame
        source, target : str
            Columns with node numbers from 0; ``pandas.factorize`` numbers names.
        weight : str, optional
            A column with edge weights.
        %(num_nodes)s
        %(directed)s

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat, pandas
        >>> edges = pandas.DataFrame({"src": [0, 1], "dst": [1, 2]})
        >>> dgat.Graph.from_pandas(edges, "src", "dst").num_nodes
        3
        """
        index = np.stack([frame[source].to_numpy(), frame[target].to_numpy()])
        weights = None if weight is None else frame[weight].to_numpy()
        return cls.from_edge_index(index, num_nodes, edge_weight=weights, directed=directed)

    @classmethod
    @shared
    def from_pyg(cls, data: Any, *, weighted: bool = False, directed: bool = False) -> Graph:
        """A graph from a ``Data`` object of PyTorch Geometric, or any object with ``edge_index``.

        Parameters
        ----------
        data : object
            With ``edge_index`` and, where it has one, ``num_nodes``, or ``x`` or ``y`` with a row per node.
        %(weighted)s
        %(directed)s

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat, types
        >>> data = types.SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=2)
        >>> dgat.Graph.from_pyg(data).num_edges
        1
        """
        weights = getattr(data, "edge_weight", None) if weighted else None
        if weighted and weights is None:
            raise ValueError("from_pyg: weighted=True, but the data has no edge_weight")
        rows = [getattr(data, name, None) for name in ("x", "y")]
        counts = [getattr(data, "num_nodes", None), *(np.shape(values)[0] for values in rows if values is not None)]
        nodes = next((count for count in counts if count is not None), None)
        return cls.from_edge_index(data.edge_index, nodes, edge_weight=weights, directed=directed)

    @classmethod
    @shared
    def from_torch(
        cls, edge_index: Any, num_nodes: Optional[int] = None, *, edge_weight: Any = None, directed: bool = False
    ) -> Graph:
        """The same as :meth:`from_edge_index`, which takes tensors of torch on any device.

        Parameters
        ----------
        edge_index : torch.Tensor, shape (2, E)
            On any device; sources and targets.
        %(num_nodes)s
        edge_weight : torch.Tensor, shape (E,), optional
            Positive weights.
        %(directed)s

        Returns
        -------
        Graph

        Examples
        --------
        >>> import dgat
        >>> dgat.Graph.from_torch([[0], [1]]).num_edges
        1
        """
        return cls.from_edge_index(edge_index, num_nodes, edge_weight=edge_weight, directed=directed)

    @property
    def num_nodes(self) -> int:
        """Nodes, isolated ones included."""
        return self._csr.nodes

    @property
    def num_edges(self) -> int:
        """Undirected edges, or arcs of a directed graph."""
        return self._csr.edges

    @property
    def num_arcs(self) -> int:
        """Entries of ``indices``."""
        return self._csr.arcs

    @property
    def directed(self) -> bool:
        """Whether arcs have one direction."""
        return self._csr.directed

    @property
    def indptr(self) -> np.ndarray:
        """Where the rows begin."""
        return self._csr.indptr

    @property
    def indices(self) -> np.ndarray:
        """The neighbours, row after row."""
        return self._csr.indices

    @property
    def weights(self) -> Optional[np.ndarray]:
        """Edge weights in the order of ``indices``; None where all are 1."""
        values = self._csr.weights
        return values if values.size else None

    @property
    def edge_index(self) -> np.ndarray:
        """Every arc, shape (2, num_arcs): sources, targets."""
        receivers = np.repeat(np.arange(self.num_nodes), np.diff(self.indptr))
        return np.stack([self.indices.astype(np.int64), receivers])

    def to_scipy(self) -> Any:
        """The adjacency matrix, ``scipy.sparse.csr_matrix``; entry (i, j) is an edge from i to j.

        Returns
        -------
        scipy.sparse.csr_matrix

        Examples
        --------
        >>> import dgat
        >>> dgat.Graph.from_edge_index([[0], [1]]).to_scipy().toarray()
        array([[0., 1.],
               [1., 0.]], dtype=float32)
        """
        import scipy.sparse

        shape = (self.num_nodes, self.num_nodes)
        values = np.ones(self.num_arcs, dtype=np.float32) if self.weights is None else self.weights.copy()
        rows = scipy.sparse.csr_matrix((values, self.indices, self.indptr), shape=shape)
        return rows.T.tocsr() if self.directed else rows

    def to_networkx(self) -> Any:
        """The same graph in NetworkX.

        Returns
        -------
        networkx.Graph or networkx.DiGraph

        Examples
        --------
        >>> import dgat
        >>> dgat.Graph.from_edge_index([[0], [1]]).to_networkx().number_of_edges()
        1
        """
        import networkx

        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        graph.add_nodes_from(range(self.num_nodes))
        if self.weights is None:
            graph.add_edges_from(self.edge_index.T.tolist())
        else:
            graph.add_weighted_edges_from(zip(*self.edge_index.tolist(), self.weights.tolist()))
        return graph

    def components(self) -> np.ndarray:
        """The connected component of every node, numbered by the smallest node.

        Returns
        -------
        ndarray of int32, shape (num_nodes,)

        Examples
        --------
        >>> import dgat
        >>> dgat.Graph.from_edge_index([[0, 2], [1, 3]]).components()
        array([0, 0, 1, 1], dtype=int32)
        """
        return _core.components(self._csr)

    def __repr__(self) -> str:
        kind = ", directed=True" if self.directed else ""
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}{kind})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self._csr.weights, other._csr.weights)
        )

    def __hash__(self) -> int:
        return hash((self.num_nodes, self.num_arcs, self.directed))

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: Any) -> Graph:
        return self

    def __reduce__(self) -> Any:
        rows = (self.indptr, self.indices, self.directed, self._csr.weights)
        return _unpickle, (rows, self.dropped_self_loops, self.dropped_duplicates)


def _unpickle(rows: tuple[Any, ...], loops: int, duplicates: int) -> Graph:
    return Graph(_core.graph_from_rows(*rows), loops, duplicates)


def as_graph(value: Any, nodes: Optional[int] = None) -> Graph:
    """A Graph from one, from what has one, or from a graph of NetworkX, SciPy, PyTorch Geometric or edges."""
    if isinstance(value, Graph):
        return value
    if isinstance(getattr(value, "graph", None), Graph):  # a Dataset
        return value.graph
    if hasattr(value, "adj") and hasattr(value, "is_directed"):
        return Graph.from_networkx(value)
    if hasattr(value, "tocsr"):
        return Graph.from_scipy(value)
    if hasattr(value, "edge_index"):
        return Graph.from_pyg(value)
    if value is None or isinstance(value, (str, bytes, dict)):
        raise TypeError(f"a graph was expected, got {type(value).__name__}; dgat.Graph and dgat.load make graphs")
    return Graph.from_edge_index(value, nodes)


def _labels(y: Any, nodes: int) -> np.ndarray:
    """Labels as int32, one per node; -1 means unlabelled."""
    labels = _array(y)
    labels = _index_array(labels.astype(np.int64) if labels.dtype == bool else labels, "y").reshape(-1)
    if labels.size != nodes:
        raise ValueError(f"y: one label per node was expected, got {labels.size} for {nodes} nodes")
    if labels.size and (labels.min() < -1 or labels.max() >= 2**15):
        raise ValueError("y: labels must lie in [-1, 32767]; -1 means unlabelled")
    return labels.astype(np.int32)


def homophily(graph: Any, y: Any = None, *, skip_isolated: bool = False) -> dict[str, Any]:
    """How similar neighbours are, by every measure of the literature.

    Parameters
    ----------
    graph : Graph, Dataset, or what a Graph can be made from
    y : array_like of int, shape (N,)
        Labels; -1 means unlabelled. Not needed with a data set.
    skip_isolated : bool
        Leave nodes without neighbours out of ``node``.

    Returns
    -------
    dict
        ``node``, ``edge``, ``class``, ``adjusted_edge``, ``label_informativeness``,
        ``node_label_informativeness``, ``aggregation``, ``aggregation_raw``, ``class_counts``,
        ``labelled_nodes``, ``labelled_edges``, and ``compatibility``: entry (a, b) is the
        probability that a neighbour of class a has class b. A measure without a value is NaN.

    Examples
    --------
    >>> import dgat
    >>> g = dgat.Graph.from_edge_index([[0, 1, 2], [1, 2, 3]])
    >>> round(dgat.homophily(g, [0, 0, 1, 1])["edge"], 3)
    0.667
    """
    y = getattr(graph, "y", None) if y is None else y
    graph = as_graph(graph)
    if y is None:
        raise ValueError("homophily: labels are needed: homophily(graph, y)")
    labels = _labels(y, graph.num_nodes)
    classes = int(labels.max(initial=-1)) + 1
    return _core.homophily(graph._csr, labels, max(classes, 1), skip_isolated)
