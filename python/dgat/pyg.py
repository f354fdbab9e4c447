"""PyTorch Geometric: a transform, and weights in both directions.

Nothing here needs torch. Where an argument holds tensors the result does, too; otherwise arrays.
"""

from __future__ import annotations

import copy
import os
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from dgat import _core
from dgat._classifier import NodeClassifier, load_model
from dgat._docs import shared
from dgat._graph import Graph, _array
from dgat._options import settings_of
from dgat._spectral import rewire, spectrum

try:
    from torch_geometric.transforms import BaseTransform as _Base
except ImportError:
    _Base = object

__all__ = ["DirectionalRewiring", "from_state_dict", "state_dict"]


def _like(array: np.ndarray, example: Any) -> Any:
    """The array as a tensor on the device of the example, if that is one."""
    if not hasattr(example, "detach"):
        return array
    import torch

    return torch.from_numpy(np.ascontiguousarray(array)).to(example.device)


def _edge_attributes(data: Any) -> list[str]:
    """What the data has for every edge, beside edge_index."""
    if hasattr(data, "edge_attrs"):  # Data of PyTorch Geometric
        return [name for name in data.edge_attrs() if name != "edge_index"]
    edges = np.shape(data.edge_index)[1]
    named = [(name, np.shape(value)) for name, value in vars(data).items() if name.startswith("edge_")]
    return [name for name, shape in named if name != "edge_index" and shape[:1] == (edges,)]


@shared
class DirectionalRewiring(_Base):  # type: ignore[misc,valid-type]
    """Rewires a graph along its eigenvectors and adds directional edge features.

    A transform of PyTorch Geometric where that is installed, a callable otherwise. It sets
    ``edge_index``, ``edge_attr`` (M, 2 k) and ``phi`` (N, k) on a shallow copy of the data and
    removes what belongs to the former edges, such as ``edge_weight``. Then
    ``GATConv(..., edge_dim=2 * k, add_self_loops=False)`` is the attention of DGAT.

    Parameters
    ----------
    alpha, gamma : float
        Of L(alpha, gamma), see :func:`dgat.spectrum`.
    k : int
        How many eigenvectors.
    %(laplacian)s
    %(mode:rewire)s
    %(epsilon)s
    %(components)s
    self_loops : bool
        Whether every node gets a self loop, with its own features.
    weighted : bool
        Whether ``data.edge_weight`` has an effect on phi.
    %(direction_seed)s

    Examples
    --------
    >>> import types
    >>> from dgat.pyg import DirectionalRewiring
    >>> data = types.SimpleNamespace(edge_index=[[0, 1, 2], [1, 2, 3]], num_nodes=4)
    >>> out = DirectionalRewiring(gamma=0.3, rewire="none")(data)
    >>> out.edge_index.shape, out.edge_attr.shape, out.phi.shape
    ((2, 10), (10, 2), (4, 1))
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        gamma: float = 0.3,
        k: int = 1,
        laplacian: str = "tuned",
        rewire: str = "prune-far+add",
        epsilon: Union[float, str, None] = None,
        components: str = "each",
        self_loops: bool = True,
        weighted: bool = False,
        seed: int = 0,
    ) -> None:
        self.alpha, self.gamma, self.k, self.laplacian = alpha, gamma, k, laplacian
        self.rewire, self.epsilon = rewire, epsilon
        self.components, self.self_loops, self.weighted, self.seed = components, self_loops, weighted, seed

    def __call__(self, data: Any) -> Any:
        """The data with a new graph; the argument is left as it is."""
        return self.forward(copy.copy(data))

    def forward(self, data: Any) -> Any:
        """Changes the data in place; PyTorch Geometric calls it with a copy.

        Parameters
        ----------
        data : object
            With ``edge_index`` and, where it has them, ``num_nodes``, ``y`` and ``train_mask``.

        Returns
        -------
        object
            The argument.

        Examples
        --------
        >>> import types
        >>> from dgat.pyg import DirectionalRewiring
        >>> data = types.SimpleNamespace(edge_index=[[0, 1, 2], [1, 2, 3]], num_nodes=4)
        >>> DirectionalRewiring(rewire="none").forward(data) is data
        True
        """
        graph = Graph.from_pyg(data, weighted=self.weighted)
        found = spectrum(
            graph, alpha=self.alpha, gamma=self.gamma, k=self.k, laplacian=self.laplacian,
            components=self.components, seed=self.seed,
        )  # fmt: skip
        labels, mask = None, getattr(data, "train_mask", None)
        if "auto" in self.rewire and mask is not None:
            labels, mask = data.y, _array(mask) if _array(mask).ndim == 1 else _array(mask)[:, 0]
        made = rewire(
            graph, found, mode=self.rewire, epsilon=self.epsilon, y=labels, train=mask, self_loops=self.self_loops
        )
        example = data.edge_index
        for name in _edge_attributes(data):
            delattr(data, name)
        data.edge_index = _like(made.edge_index, example)
        data.edge_attr = _like(made.edge_attr, example)
        data.phi = _like(found.eigenvectors.astype(np.float32), example)
        return data

    def __repr__(self) -> str:
        return f"DirectionalRewiring(alpha={self.alpha}, gamma={self.gamma}, rewire={self.rewire!r})"


# Our parameter, PyG's, and how many dimensions PyG adds in front.
_GAT = [("lin.weight", "lin.weight", 0), ("att_src", "att_src", 1), ("att_dst", "att_dst", 1),
        ("lin_edge.weight", "lin_edge.weight", 0), ("att_edge", "att_edge", 1), ("bias", "bias", 0)]  # fmt: skip
_NAMES = {
    "gat": _GAT,
    "dgat": _GAT,
    "gatv2": [("lin_src.weight", "lin_l.weight", 0), ("lin_dst.weight", "lin_r.weight", 0),
              ("att", "att", 1), ("bias", "bias", 0)],
    "gt": [("lin_query.weight", "lin_query.weight", 0), ("lin_key.weight", "lin_key.weight", 0),
           ("lin_value.weight", "lin_value.weight", 0), ("bias", "lin_value.bias", 0)],
    "gcn": [("lin.weight", "lin.weight", 0), ("lin.bias", "bias", 0)],
    "sage": [("lin_mean.weight", "lin_l.weight", 0), ("lin_own.bias", "lin_l.bias", 0),
             ("lin_own.weight", "lin_r.weight", 0)],
}  # fmt: skip


def _names_of(model: str) -> list[tuple[str, str, int]]:
    if model not in _NAMES:
        raise ValueError(
            f"pyg: {model} has no counterpart in PyTorch Geometric; those of {', '.join(_NAMES)} can be exchanged"
        )
    return _NAMES[model]


def _complete_transformer(out: dict[str, np.ndarray]) -> None:
    """What TransformerConv always has and gt has not is zero."""
    width, columns = out["lin_key.weight"].shape
    for name in ("lin_query.bias", "lin_key.bias", "lin_value.bias"):
        out.setdefault(name, np.zeros(width, dtype=np.float32))
    out["lin_skip.weight"] = np.zeros((width, columns), dtype=np.float32)


def _without_transformer_parts(arrays: dict[str, np.ndarray]) -> None:
    """Drops them again. A bias of the keys adds the same to all scores of a node: no effect."""
    arrays.pop("lin_key.bias", None)
    for name in ("lin_query.bias", "lin_skip.weight", "lin_skip.bias", "lin_value.bias"):
        if name in arrays and not arrays[name].any():
            del arrays[name]


def _prefix(tensors: Mapping[str, Any], layer: int) -> str:
    for prefix in (f"layers.{layer}.conv.", f"layers.{layer}."):
        if any(name.startswith(prefix) for name in tensors):
            return prefix
    raise ValueError(f"pyg: there is no layer {layer}")


def state_dict(clf: NodeClassifier, layer: int = 0) -> dict[str, Any]:
    """The convolution of one layer under the names of PyTorch Geometric.

    Parameters
    ----------
    clf : NodeClassifier
        Fitted, with recipe classic or deep: in recipe residual every head scores by the whole row,
        which no layer of PyTorch Geometric does.
    layer : int

    Returns
    -------
    dict
        For ``GATConv(edge_dim=2 * k, bias=False, add_self_loops=False)`` (dgat, gat),
        ``GATv2Conv(bias=False)``, ``TransformerConv(bias=False, root_weight=False)`` (gt; the parts
        that gt does not have are zero), ``GCNConv`` or ``SAGEConv``. Tensors where torch is
        installed, otherwise arrays.

    Examples
    --------
    >>> import dgat, dgat.pyg
    >>> d = dgat.generate("csbm", nodes=100, splits=1)
    >>> clf = dgat.DGATClassifier(recipe="classic", hidden=16, heads=2, layers=2, steps=3).fit(d)
    >>> sorted(dgat.pyg.state_dict(clf))
    ['att_dst', 'att_edge', 'att_src', 'lin.weight', 'lin_edge.weight']
    """
    tensors = clf.state_dict()
    model = clf._network().model
    names = _names_of(model)
    prefix = _prefix(tensors, layer)
    out = {}
    for ours, theirs, added in names:
        if prefix + ours in tensors:
            values = tensors[prefix + ours]
            out[theirs] = values.reshape((1,) * added + values.shape)
    if not out or (model in ("gat", "dgat") and "att_src" not in out):
        raise ValueError("pyg: recipe residual has no counterpart in PyTorch Geometric; train with recipe='classic'")
    if model == "gt":
        _complete_transformer(out)
    try:
        import torch
    except ImportError:
        return out
    return {name: torch.from_numpy(values) for name, values in out.items()}


def from_state_dict(
    layers: Sequence[Mapping[str, Any]],
    *,
    model: str,
    features: int,
    classes: int,
    rewire: str = "none",
    others: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> NodeClassifier:
    """A classifier from layers that PyTorch Geometric trained.

    Parameters
    ----------
    layers : sequence of dict
        The state of every convolution, first layer first. ``lin_src.weight`` of GATConv before
        version 2.4 is accepted. Of TransformerConv, the bias of the queries and ``lin_skip`` must
        be zero or left out.
    model : {'gat', 'dgat', 'gatv2', 'gt', 'gcn', 'sage'}
    features, classes : int
    rewire : str
        The rewiring that the network was trained on.
    others : dict, optional
        The other parameters under our names, such as ``output.weight`` of recipe deep.
    **options
        recipe (default classic), hidden, heads, gamma and so on, as in training.

    Returns
    -------
    NodeClassifier
        Fitted; it predicts on the graph that it is given, without Python or torch from
        ``dgat predict`` as well.

    Examples
    --------
    >>> import dgat, dgat.pyg
    >>> d = dgat.generate("csbm", nodes=100, splits=1)
    >>> options = {"hidden": 16, "heads": 2, "rewire": "none"}
    >>> clf = dgat.DGATClassifier(recipe="classic", layers=2, steps=3, **options).fit(d)
    >>> layers = [dgat.pyg.state_dict(clf, layer) for layer in (0, 1)]
    >>> back = dgat.pyg.from_state_dict(layers, model="dgat", features=16, classes=2, **options)
    >>> bool((back.predict(d) == clf.predict()).all())
    True
    """
    names = _names_of(model)
    recipe = options.pop("recipe", "classic")
    tensors = {name: _array(values).astype(np.float32) for name, values in (others or {}).items()}
    for number, state in enumerate(layers):
        prefix = f"layers.{number}." + ("conv." if recipe == "deep" else "")
        arrays = {name: _array(values).astype(np.float32) for name, values in state.items()}
        if "lin_src.weight" in arrays and model in ("gat", "dgat"):
            arrays["lin.weight"] = arrays.pop("lin_src.weight")
            arrays.pop("lin_dst.weight", None)  # the same matrix
        if model == "gt":
            _without_transformer_parts(arrays)
        unknown = set(arrays) - {theirs for _, theirs, _ in names}
        if unknown:
            raise ValueError(f"pyg: {model} has no {', '.join(sorted(unknown))}; leave it out or make the layer without it")
        for ours, theirs, added in names:
            if theirs in arrays:
                values = arrays[theirs]
                tensors[prefix + ours] = values.reshape(values.shape[added:])
    bias = any(name.endswith(".bias") and name.count(".") == 2 for name in tensors)
    settings = settings_of(
        {"model": model, "recipe": recipe, "layers": len(layers), "rewire": rewire,
         "conv_bias": True if bias and recipe == "classic" else None, **options}
    )  # fmt: skip
    metadata = dict(_core.resolve(settings, ""))
    metadata.update(
        {"format": "pt", "dgat.dataset": "graph", "dgat.features": str(features), "dgat.classes": str(classes),
         "dgat.nodes": "0", "dgat.split": "0", "dgat.best_step": "0", "dgat.rewire": rewire}
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="dgat-") as folder:
        path = os.path.join(folder, "weights.safetensors")
        _core.write_tensors(path, tensors, metadata)
        return load_model(path)
