"""Node classifiers with the contract of scikit-learn, which is not imported."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Optional

import numpy as np

from dgat import _core
from dgat._arguments import is_node_list, labelled, labels_for, node_numbers, part_numbers, targets_of
from dgat._dataset import Dataset, _features
from dgat._docs import shared
from dgat._estimator import Attention, Estimator, History, with_options
from dgat._graph import Graph, _array, as_graph
from dgat._messages import progress_shown
from dgat._options import changed_options, settings_of

_CLASSES = "dgat.python.classes"
_RUN_FILES = ("config.yaml", "log.jsonl", "summary.json")


def _keep_classes(path: str, classes: np.ndarray) -> None:
    """Writes the labels of y into the weight file, with their type; load_model() reads them."""
    file = _core.read_tensors(path)
    labels = {_CLASSES: json.dumps(classes.tolist())}
    _core.write_tensors(path, file["tensors"], {**file["metadata"], **labels})


class NodeClassifier(Estimator):
    # with_options() below makes the docstring and __init__ from the option table.

    # ---- fitting

    def _settings(self) -> dict[str, str]:
        own = ("graph", "features", "validation", "out", "existing", "progress")
        options = {name: value for name, value in self.get_params().items() if name not in own}
        if isinstance(self.features, str):
            options["features"] = self.features
        return settings_of({**options, **self._fixed})

    def _graph_and_features(self) -> tuple[Graph, Any]:
        graph, features = self.graph, None if isinstance(self.features, str) else self.features
        if isinstance(graph, Dataset):
            return graph.graph, graph._set.features if features is None else _features(features)
        if graph is None:
            raise ValueError(
                f"{type(self).__name__}: a graph is needed: {type(self).__name__}(graph=g, features=X), "
                "fit(X, y, edge_index=...), or fit(dataset)"
            )
        return as_graph(graph, None if features is None else np.shape(features)[0]), _features(features)

    @shared
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        edge_index: Any = None,
        graph: Optional[Graph] = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        split: int = 0,
    ) -> NodeClassifier:
        """Trains on one split.

        Parameters
        ----------
        X : Dataset, array_like of int, or array_like of shape (N, F)
            A data set: trains on its split number ``split``, with the weights that
            ``dgat train`` gives that split. Node numbers: the training nodes of the graph of the
            constructor. A matrix: the features of all nodes, with ``edge_index`` or ``graph``.
        y : array_like
            Labels of X: whole numbers or texts. In a matrix call, one per node and -1 (among texts
            None) where there is none.
        edge_index : array_like, shape (2, E), optional
        graph : Graph, optional
        train_mask : array_like, optional
            Mask or numbers of the training nodes of a matrix call. Default: all labelled nodes
            that are in no other mask.
        val_mask, test_mask : array_like, optional
            Masks or numbers of nodes with known labels. The best step is the one with the highest
            validation metric. Without ``val_mask``, the share ``validation`` of the training nodes
            is held out for that, stratified. In a call with node numbers, labels of these nodes
            come from the data set of the constructor.
        %(split)s

        Returns
        -------
        NodeClassifier
            The object itself.

        Examples
        --------
        >>> import dgat, numpy as np
        >>> d = dgat.generate("csbm", nodes=100, splits=1)
        >>> small = {"hidden": 8, "heads": 2, "layers": 1, "steps": 5}
        >>> dgat.DGATClassifier(**small).fit(d).classes_                               # a data set
        array([0, 1])
        >>> nodes = np.arange(50)
        >>> dgat.DGATClassifier(d.graph, d.x, **small).fit(nodes, d.y[nodes]).classes_  # node numbers
        array([0, 1], dtype=int32)
        >>> y = np.where(np.arange(100) < 50, d.y, -1)                                 # a matrix
        >>> dgat.DGATClassifier(**small).fit(d.x, y, edge_index=d.graph.edge_index).predict([98, 99]).shape
        (2,)
        """
        settings = self._settings()
        if isinstance(X, Dataset):
            dataset = Dataset(X._set.with_splits({}, True), X._source)
            classes = np.arange(dataset.classes)
        else:
            dataset, classes = self._dataset_of(X, y, edge_index, graph, train_mask, val_mask, test_mask, settings)
            split = 0
        if dataset._source:
            settings["data"] = os.path.abspath(dataset._source) if os.path.exists(dataset._source) else dataset._source
        with tempfile.TemporaryDirectory(prefix="dgat-") as temporary, progress_shown(self.progress):
            folder = temporary if self.out is None else os.fspath(self.out)
            existing = "overwrite" if self.out is None else self.existing
            _core.fit(dataset._set, settings, split, folder, existing)
            if not isinstance(X, Dataset):
                _keep_classes(os.path.join(folder, f"split-{split}.safetensors"), classes)
            self._read_run(pathlib.Path(folder), split)
        self._dataset_, self.classes_ = dataset, classes
        self.n_features_in_ = dataset.num_features
        return self

    def _dataset_of(
        self, X: Any, y: Any, edge_index: Any, graph: Any, train_mask: Any, val_mask: Any, test_mask: Any,
        settings: dict[str, str],
    ) -> tuple[Dataset, np.ndarray]:  # fmt: skip
        """One split from the arguments of fit(), and the classes."""
        if y is None:
            raise ValueError("fit: y is needed: requires y to be passed, but the target y is None")
        if edge_index is not None or graph is not None:
            matrix = _features(X)
            nodes = matrix.rows
            graph = as_graph(graph if graph is not None else edge_index, nodes)
            targets = targets_of(y)
            if nodes != graph.num_nodes:
                raise ValueError(f"fit: {nodes} rows of features for {graph.num_nodes} nodes; one per node is needed")
            if targets.size != nodes:
                raise ValueError(f"y: one label per node was expected, got {targets.size} for {nodes} nodes")
            val, test = part_numbers(val_mask, nodes, "val_mask"), part_numbers(test_mask, nodes, "test_mask")
            known = labelled(targets)
            if train_mask is None:
                train = np.setdiff1d(np.flatnonzero(known), np.concatenate([val, test]))
            else:
                train = part_numbers(train_mask, nodes, "train_mask")
        else:
            graph, matrix = self._graph_and_features()
            nodes = graph.num_nodes
            if not is_node_list(X):
                raise ValueError(
                    f"fit: X of shape {np.shape(X)} is no list of node numbers; for a matrix of features give edge_index"
                )
            train = node_numbers(X, nodes)
            given = labels_for(X, y, train.size)
            val, test = part_numbers(val_mask, nodes, "val_mask"), part_numbers(test_mask, nodes, "test_mask")
            known = np.zeros(nodes, dtype=bool)
            known[train] = True
            targets = np.zeros(nodes, dtype=given.dtype)
            if val.size or test.size:
                if not isinstance(self.graph, Dataset):
                    raise ValueError("fit: labels of val_mask and test_mask are those of a data set: graph=dataset")
                others = np.concatenate([val, test])
                targets[others], known[others] = self.graph.y[others], True
            targets[train] = given
        if train.size == 0:
            raise ValueError("fit: there are no training nodes")
        if targets.dtype.kind == "f" and not np.array_equal(targets[known], np.floor(targets[known])):
            raise ValueError("Unknown label type: continuous; classes are whole numbers or texts, and -1 is no label")
        if targets.dtype == object:
            targets = np.where(known, targets, targets[known][0] if known.any() else "").astype(str)
        classes = np.unique(targets[known])
        labels = np.full(nodes, -1, dtype=np.int32)
        labels[known] = np.searchsorted(classes, targets[known])
        if classes.size < 2:
            raise ValueError(f"fit: two classes are needed, got 1 class: {classes[0]!r}")
        train = np.unique(train).astype(np.int32)
        if val.size == 0:
            train, val = self._held_out(labels, train, int(classes.size), int(settings.get("seed", 0)))
        plain = classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(classes.size))
        names = [] if plain else [str(name) for name in classes]
        core = _core.make_dataset(
            "graph", graph._csr, matrix, labels, int(classes.size), [[train, val, test]], [], names, []
        )
        return Dataset(core), classes

    def _held_out(self, labels: np.ndarray, train: np.ndarray, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        share = 0.2 if self.validation is None else float(self.validation)
        if not 0 < share < 1:
            raise ValueError(f"validation: must lie between 0 and 1, got {share}; or give val_mask")
        visible = np.full(labels.size, -1, dtype=np.int32)
        visible[train] = labels[train]
        return _core.random_split(visible, classes, 1 - share, share, seed)

    def _read_run(self, folder: pathlib.Path, split: int) -> None:
        self._split_ = split
        self._weights_ = (folder / f"split-{split}.safetensors").read_bytes()
        self._files_ = {name: (folder / name).read_bytes() for name in _RUN_FILES}
        self.summary_ = json.loads(self._files_["summary.json"])
        rows = [json.loads(line) for line in self._files_["log.jsonl"].splitlines()]
        rows.sort(key=lambda row: (row["layers"], row["step"]))
        self.layers_ = int(self.summary_["splits"][0].get("layers", self.summary_.get("layers", 0)))
        chosen = [row for row in rows if row["layers"] == self.layers_] or rows
        self.history_ = History(
            {
                key: np.array([np.nan if row[key] is None else row[key] for row in chosen])
                for key in ("layers", "step", "loss", "train", "val", "test")
            }
        )
        self.best_step_ = int(self.summary_["splits"][0]["best_step"])
        self._memory_ = {}

    # ---- prediction

    def _require_fitted(self) -> None:
        if hasattr(self, "_weights_"):
            return
        text = f"This {type(self).__name__} instance is not fitted yet; call fit first"
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise ValueError(text) from None
        raise NotFittedError(text)

    def _network(self) -> Any:
        self._require_fitted()
        if "network" not in self._memory_:
            with tempfile.TemporaryDirectory(prefix="dgat-") as folder:
                path = os.path.join(folder, "weights.safetensors")
                pathlib.Path(path).write_bytes(self._weights_)
                self._memory_["network"] = _core.Network.load(path, 0)
        return self._memory_["network"]

    def _predicted(self, X: Any, edge_index: Any, graph: Any, **wanted: bool) -> dict[str, Any]:
        """What the network says about every node of a graph."""
        network = self._network()
        dataset = getattr(self, "_dataset_", None)
        if isinstance(X, Dataset):
            dataset = X
        elif edge_index is not None or graph is not None:
            rows = X.shape[0] if hasattr(X, "shape") else _array(X).shape[0]
            graph = as_graph(graph if graph is not None else edge_index, rows)
            dataset = Dataset.from_arrays(graph, X, np.full(rows, -1))
        elif dataset is None and self.graph is not None:
            graph, features = self._graph_and_features()
            dataset = Dataset.from_arrays(graph, features, np.full(graph.num_nodes, -1))
        if dataset is None:
            raise ValueError("predict: which graph? give a data set, or features and edge_index")
        own = dataset is getattr(self, "_dataset_", None)
        if own and not any(wanted.values()):
            if "predicted" not in self._memory_:
                self._memory_["predicted"] = network.predict(dataset._set, False, False, True)
            return self._memory_["predicted"]
        return network.predict(dataset._set, wanted.get("embeddings", False), wanted.get("attention", False), own)

    def _rows(self, values: np.ndarray, X: Any, edge_index: Any, graph: Any) -> np.ndarray:
        if X is None or isinstance(X, Dataset) or edge_index is not None or graph is not None:
            return values.copy()  # they may be kept for the next call
        if not is_node_list(X):
            raise ValueError(f"predict: X of shape {np.shape(X)} is no list of node numbers; give edge_index with a matrix")
        return values[node_numbers(X, values.shape[0])]

    @shared
    def predict_proba(self, X: Any = None, *, edge_index: Any = None, graph: Optional[Graph] = None) -> np.ndarray:
        """The probability of every class.

        Parameters
        ----------
        %(nodes)s
        %(other_graph)s

        Returns
        -------
        ndarray of float32, shape (n, classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        %(fitted)s
        >>> clf.predict_proba([30, 31]).shape
        (2, 2)
        """
        return self._rows(self._predicted(X, edge_index, graph)["probabilities"], X, edge_index, graph)

    @shared
    def predict(self, X: Any = None, *, edge_index: Any = None, graph: Optional[Graph] = None) -> np.ndarray:
        """The class of nodes.

        Parameters
        ----------
        %(nodes)s
        %(other_graph)s

        Returns
        -------
        ndarray, shape (n,)

        Examples
        --------
        %(fitted)s
        >>> clf.predict([30, 31]).shape
        (2,)
        """
        classes = self._rows(self._predicted(X, edge_index, graph)["classes"], X, edge_index, graph)
        return self.classes_[classes]

    @shared
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, edge_index: Any = None, graph: Optional[Graph] = None
    ) -> float:
        """The accuracy of :meth:`predict`.

        Parameters
        ----------
        %(nodes)s
        y : array_like
            The label of every node of X.
        sample_weight : array_like, optional
        %(other_graph)s

        Returns
        -------
        float

        Examples
        --------
        %(fitted)s
        >>> 0 <= clf.score(d.test_mask[:, 0], d.y[d.test_mask[:, 0]]) <= 1
        True
        """
        elsewhere = {"edge_index": edge_index, "graph": graph}
        predicted = self.predict(X, **{name: value for name, value in elsewhere.items() if value is not None})
        return float(np.average(predicted == labels_for(X, y, predicted.size), weights=sample_weight))

    @shared
    def embeddings_(self, X: Any = None, *, edge_index: Any = None, graph: Optional[Graph] = None) -> np.ndarray:
        """What the last linear map reads, one row per node.

        Parameters
        ----------
        %(nodes)s
        %(other_graph)s

        Returns
        -------
        ndarray of float32, shape (n, width)

        Examples
        --------
        %(fitted)s
        >>> clf.embeddings_().shape
        (100, 8)
        """
        return self._rows(self._predicted(X, edge_index, graph, embeddings=True)["embeddings"], X, edge_index, graph)

    @shared
    def attention_(
        self, layer: int = 0, X: Any = None, *, edge_index: Any = None, graph: Optional[Graph] = None
    ) -> Attention:
        """The attention weights of one layer, self loops included.

        Parameters
        ----------
        layer : int
        X : Dataset or array_like of shape (N, F), optional
            Another graph: a data set, or features with ``edge_index`` or ``graph``.
        %(other_graph)s

        Returns
        -------
        Attention
            ``edge_index`` (2, arcs): sources, targets; ``weights`` (arcs, heads).

        Examples
        --------
        %(fitted)s
        >>> edge_index, weights = clf.attention_(layer=0)
        >>> edge_index.shape[1] == weights.shape[0], weights.shape[1]
        (True, 2)
        """
        out = self._predicted(X, edge_index, graph, attention=True)
        layers = out["attention"]
        if not -len(layers) <= layer < len(layers):
            raise ValueError(f"attention_: layer {layer} is outside [0, {len(layers)}): layers with attention")
        return Attention(np.stack([out["senders"], out["receivers"]]), layers[layer])

    # ---- files

    @shared
    def state_dict(self) -> dict[str, np.ndarray]:
        """The weights by name, shaped as in the weight file.

        Returns
        -------
        dict of ndarray

        Examples
        --------
        %(fitted)s
        >>> clf.state_dict()["output.weight"].dtype
        dtype('float32')
        """
        self._require_fitted()
        with tempfile.TemporaryDirectory(prefix="dgat-") as folder:
            path = os.path.join(folder, "weights.safetensors")
            pathlib.Path(path).write_bytes(self._weights_)
            return _core.read_tensors(path)["tensors"]

    @shared
    def save(self, path: Any) -> None:
        """Writes the weights with everything needed to use them, as safetensors.

        Parameters
        ----------
        path : str or path
            ``dgat predict`` and :func:`load_model` read the file.

        Examples
        --------
        %(fitted)s
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "m.safetensors")
        ...     clf.save(path)
        ...     bool((dgat.load_model(path).predict(d) == clf.predict()).all())
        True
        """
        self._require_fitted()
        path = pathlib.Path(os.fspath(path))
        temporary = path.with_name(path.name + ".part")
        temporary.write_bytes(self._weights_)
        os.replace(temporary, path)


class DGATClassifier(NodeClassifier):
    # As above.

    _fixed = {"model": "dgat"}


with_options(NodeClassifier, (), "A node classifier: any model of ``dgat models`` by name.", ', model="gcn"')
with_options(DGATClassifier, ("model",), "The Directional Graph Attention Network as a node classifier.", "")


def load_model(path: Any, *, split: int = 0) -> NodeClassifier:
    """A trained network from a weight file or the folder of a run.

    Parameters
    ----------
    path : str or path
        What :meth:`NodeClassifier.save` or ``dgat train`` wrote.
    split : int
        Of a folder: the split whose weights are read.

    Returns
    -------
    NodeClassifier
        Fitted, with the options of its training; it predicts on the graph that it is given. Its
        classes are the labels that ``fit`` had, or the numbers of the classes of a data set.

    Examples
    --------
    >>> import dgat
    >>> dgat.load_model("missing.safetensors")
    Traceback (most recent call last):
        ...
    ValueError: missing.safetensors: no such run; give the --out folder of `dgat train` or a weight file
    """
    source = pathlib.Path(os.fspath(path))
    network = _core.Network.load(os.fspath(path), split)
    file = source / f"split-{split}.safetensors" if source.is_dir() else source
    metadata = _core.read_tensors(os.fspath(file))["metadata"]
    given = changed_options(metadata)
    model = NodeClassifier(**{**given, "model": network.model, "layers": network.layers})
    model._weights_ = file.read_bytes()
    model._files_, model._split_ = {}, split
    model._memory_ = {"network": network}
    model.layers_, model.n_features_in_ = network.layers, network.features
    model.classes_ = np.array(json.loads(metadata[_CLASSES])) if _CLASSES in metadata else np.arange(network.classes)
    return model
