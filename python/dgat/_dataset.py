"""Data sets: a graph with features, labels and splits."""

from __future__ import annotations

import os
from typing import Any, Optional, Sequence

import numpy as np

from dgat import _core
from dgat._docs import shared
from dgat._graph import Graph, _array, _labels, as_graph
from dgat._options import settings_of


def _features(x: Any) -> Any:
    """Dense or SciPy features as those of dgat."""
    if x is None:
        return _core.no_features()
    if isinstance(x, _core.Features):
        return x
    if hasattr(x, "tocsr"):
        matrix = x.tocsr().astype(np.float32)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        rows, columns = matrix.shape
        return _core.sparse_features(rows, columns, matrix.indptr, matrix.indices, matrix.data)
    values = _array(x)
    if values.ndim != 2:
        raise ValueError(f"features: must have the shape (nodes, features), got {values.shape}. Reshape your data")
    if values.shape[1] == 0:
        raise ValueError(f"features: 0 feature(s) (shape={values.shape}) while a minimum of 1 is required.")
    if values.dtype.kind == "c":
        raise ValueError("features: Complex data not supported; give real and imaginary parts as columns")
    if values.dtype.kind not in "biufO":
        raise ValueError(f"features: numbers were expected, got values of type {values.dtype}")
    values = values.astype(np.float32, copy=False)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"features: NaN or inf in row {row}, column {column}; fill missing values first")
    return _core.dense_features(values)


def _mask_columns(mask: Any, nodes: int, name: str) -> list[np.ndarray]:
    """The node numbers of every split. Masks are (N,) or (N, splits)."""
    if mask is None:
        return []
    array = _array(mask)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if array.shape[0] != nodes or array.dtype != bool:
        raise ValueError(f"{name}: a mask of bool with {nodes} rows was expected, got {array.shape} of {array.dtype}")
    return [np.flatnonzero(column).astype(np.int32) for column in array.T]


class Dataset:
    """A graph with node features, labels and splits; immutable. See :func:`load`.

    Attributes
    ----------
    graph : Graph
    x : ndarray of float32, shape (N, F), or None
        The features. A view where they are stored densely, otherwise made dense on every access.
    y : ndarray of int32, shape (N,)
        Labels, -1 where there is none.
    classes : int
    train_mask, val_mask, test_mask : ndarray of bool, shape (N, splits)
    name : str
    node_ids, class_names, feature_names : list of str
        Empty where the source has none.

    Examples
    --------
    >>> import dgat, numpy as np
    >>> g = dgat.Graph.from_edge_index([[0, 1, 2], [1, 2, 3]])
    >>> d = dgat.Dataset.from_arrays(g, np.eye(4), [0, 0, 1, 1])
    >>> d
    Dataset('graph', nodes=4, edges=3, features=4, classes=2, splits=0)
    """

    __slots__ = ("_set", "_source", "__weakref__")

    def __init__(self, core: Any, source: str = "") -> None:
        if not isinstance(core, _core.Dataset):
            raise TypeError("Dataset: use dgat.load or Dataset.from_arrays")
        self._set = core
        self._source = source

    @classmethod
    def from_arrays(
        cls,
        graph: Any,
        x: Any,
        y: Any,
        *,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        classes: Optional[int] = None,
        name: str = "graph",
        class_names: Sequence[str] = (),
        node_ids: Sequence[str] = (),
        feature_names: Sequence[str] = (),
    ) -> Dataset:
        """A data set from what is in memory.

        Parameters
        ----------
        graph : Graph, or what one can be made from
            ``Graph``, a graph of NetworkX, an adjacency matrix of SciPy, or edges (2, E).
        x : array_like or scipy.sparse matrix, shape (N, F), or None
            Features. They are copied: a data set does not change.
        y : array_like of int, shape (N,)
            -1 means unlabelled.
        train_mask, val_mask, test_mask : array_like of bool, shape (N,) or (N, splits), optional
        classes : int, optional
            Default: the largest label plus one.
        name : str
            In tables and notices. Recipe classic looks for a data set of the paper by this name.
        class_names, node_ids, feature_names : sequence of str

        Returns
        -------
        Dataset

        Examples
        --------
        >>> import dgat, numpy as np
        >>> g = dgat.Graph.from_edge_index([[0], [1]])
        >>> dgat.Dataset.from_arrays(g, np.ones((2, 3)), [0, 1], name="pair").classes
        2
        """
        graph = as_graph(graph, np.shape(y)[0])
        labels = _labels(y, graph.num_nodes)
        parts = [
            _mask_columns(mask, graph.num_nodes, part)
            for mask, part in ((train_mask, "train_mask"), (val_mask, "val_mask"), (test_mask, "test_mask"))
        ]
        count = max(len(part) for part in parts)
        if any(len(part) not in (0, count) for part in parts):
            raise ValueError("train_mask, val_mask, test_mask: all have one column per split")
        nothing = np.empty(0, dtype=np.int32)
        splits = [[part[s] if part else nothing for part in parts] for s in range(count)]
        number = int(labels.max(initial=-1)) + 1 if classes is None else int(classes)
        return cls(
            _core.make_dataset(
                name, graph._csr, _features(x), labels, number, splits,
                list(node_ids), list(class_names), list(feature_names),
            )
        )  # fmt: skip

    @classmethod
    @shared
    def from_pyg(cls, data: Any, *, weighted: bool = False, directed: bool = False, name: str = "graph") -> Dataset:
        """A data set from a ``Data`` object of PyTorch Geometric.

        Parameters
        ----------
        data : object
            With ``edge_index``, ``y`` and, where it has them, ``x``, ``num_nodes`` and the masks
            ``train_mask``, ``val_mask``, ``test_mask``.
        %(weighted)s
        %(directed)s
        name : str

        Returns
        -------
        Dataset

        Examples
        --------
        >>> import dgat, numpy as np, types
        >>> data = types.SimpleNamespace(edge_index=[[0, 1, 2], [1, 2, 3]], num_nodes=4, x=np.eye(4), y=[0, 0, 1, 1])
        >>> dgat.Dataset.from_pyg(data).classes
        2
        """
        x = getattr(data, "x", None)
        graph = Graph.from_pyg(data, weighted=weighted, directed=directed)
        train, val, test = (getattr(data, part, None) for part in ("train_mask", "val_mask", "test_mask"))
        return cls.from_arrays(graph, x, data.y, name=name, train_mask=train, val_mask=val, test_mask=test)

    @property
    def name(self) -> str:
        """The file's stem, or the name given."""
        return self._set.name

    @property
    def graph(self) -> Graph:
        """The graph; shares the memory of the data set."""
        return Graph(self._set.graph)

    @property
    def x(self) -> Optional[np.ndarray]:
        """Node features, dense."""
        return self._set.dense

    @property
    def x_sparse(self) -> Any:
        """Node features as ``scipy.sparse.csr_matrix``; a view where they are stored so."""
        import scipy.sparse

        arrays = self._set.sparse
        if arrays is None:
            return scipy.sparse.csr_matrix(self._set.dense)
        indptr, indices, data = arrays
        shape = (self.graph.num_nodes, self._set.feature_count)
        return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)

    @property
    def y(self) -> np.ndarray:
        """Labels; a read-only view."""
        return self._set.labels

    @property
    def classes(self) -> int:
        """Label values that may occur."""
        return self._set.classes

    @property
    def num_features(self) -> int:
        """Columns of ``x``."""
        return self._set.feature_count

    @property
    def num_splits(self) -> int:
        """Columns of the masks."""
        return self._set.num_splits

    @property
    def train_mask(self) -> np.ndarray:
        """Training nodes of every split."""
        return self._set.mask("train")

    @property
    def val_mask(self) -> np.ndarray:
        """Validation nodes of every split."""
        return self._set.mask("val")

    @property
    def test_mask(self) -> np.ndarray:
        """Test nodes of every split."""
        return self._set.mask("test")

    @property
    def node_ids(self) -> list[str]:
        """Ids of the source; empty where they are 0 .. N-1."""
        return self._set.node_ids

    @property
    def class_names(self) -> list[str]:
        """Labels of the source; empty where they are numbers."""
        return self._set.class_names

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of ``x``."""
        return self._set.feature_names

    def split(self, number: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Node numbers of the training, validation and test part of a split.

        Parameters
        ----------
        number : int

        Returns
        -------
        train, val, test : ndarray of int32

        Examples
        --------
        >>> import dgat, numpy as np
        >>> g = dgat.Graph.from_edge_index([[0, 1, 2], [1, 2, 3]])
        >>> d = dgat.Dataset.from_arrays(g, np.eye(4), [0, 0, 1, 1], train_mask=np.array([1, 0, 1, 0], bool))
        >>> d.split(0)[0]
        array([0, 2], dtype=int32)
        """
        return self._set.split(number)

    @shared
    def with_splits(self, shares: Optional[str] = None, *, splits: Optional[int] = None, seed: int = 0) -> Dataset:
        """The same data with other splits.

        Parameters
        ----------
        shares : str, optional
            Random stratified splits, such as "60/20/20". Default: those of the data set, or
            60/20/20 where it has none.
        splits : int, optional
            How many; the first ones of those that exist, or 10 random ones.
        seed : int

        Returns
        -------
        Dataset

        Examples
        --------
        %(blocks)s
        >>> d.with_splits("50/25/25", splits=3).num_splits
        3
        """
        settings = settings_of({"split": shares, "splits": splits, "seed": seed})
        return Dataset(self._set.with_splits(settings, True), self._source)

    def save(self, path: Any, format: str = "") -> None:
        """Writes the data set in the format of the extension, whole or not at all.

        Parameters
        ----------
        path : str or path
        format : str, optional
            A format by name instead of by the extension.

        Examples
        --------
        >>> import dgat, numpy as np, os, tempfile
        >>> g = dgat.Graph.from_edge_index([[0], [1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "pair.npz")
        ...     dgat.Dataset.from_arrays(g, np.ones((2, 3)), [0, 1]).save(path)
        ...     dgat.load(path).name
        'pair'
        """
        self._set.save(os.fspath(path), format)

    def __repr__(self) -> str:
        g = self.graph
        return (
            f"Dataset({self.name!r}, nodes={g.num_nodes}, edges={g.num_edges}, features={self.num_features}, "
            f"classes={self.classes}, splits={self.num_splits})"
        )

    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: Any) -> Dataset:
        return self

    def __reduce__(self) -> Any:
        arrays = self._set.sparse
        x = (arrays, self.num_features) if arrays is not None else self._set.dense
        splits = [self._set.split(s) for s in range(self.num_splits)]
        names = (self.node_ids, self.class_names, self.feature_names)
        return _unpickle, (self.name, self.graph, x, self.y, self.classes, splits, names, self._source)


def _unpickle(name: str, graph: Graph, x: Any, y: Any, classes: int, splits: Any, names: Any, source: str) -> Dataset:
    if isinstance(x, tuple):
        (indptr, indices, data), columns = x
        features = _core.sparse_features(graph.num_nodes, columns, indptr, indices, data)
    else:
        features = _features(x)
    return Dataset(_core.make_dataset(name, graph._csr, features, y, classes, splits, *names), source)


@shared
def load(
    path: Any,
    *,
    directed: bool = False,
    split: Optional[str] = None,
    splits: Optional[int] = None,
    split_file: Any = None,
    seed: int = 0,
    format: str = "",
) -> Dataset:
    """Reads a data set.

    Parameters
    ----------
    path : str or path
        A file, a folder, or a name of ``dgat datasets``; docs/formats.md lists the formats.
    %(directed)s
    split : str, optional
        Random stratified splits with these shares, such as "60/20/20".
    splits : int, optional
        How many splits, from the first.
    split_file : str or path, optional
        Splits from a CSV file.
    seed : int
        Of random splits.
    format : str, optional
        A format by name instead of by the extension.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        The file cannot be read; the text names the file and the line or key.

    Warns
    -----
    Notice
        Self loops and duplicates that were dropped.

    Examples
    --------
    >>> import dgat
    >>> dgat.load("missing.npz")
    Traceback (most recent call last):
        ...
    ValueError: missing.npz: no such file or folder...
    """
    settings = settings_of(
        {
            "directed": directed or None,
            "split": split,
            "splits": splits,
            "split_file": None if split_file is None else os.fspath(split_file),
            "seed": seed,
        }
    )
    source = os.fspath(path)
    return Dataset(_core.load(source, settings, format, False), source)


def _dataset(data: Any) -> Dataset:
    """A data set, or what load() makes of a path."""
    return data if isinstance(data, Dataset) else load(data)
