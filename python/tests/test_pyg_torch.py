"""Layers of PyTorch Geometric as modules of torch, written from their published formulas.

Parameters have the names and shapes of torch_geometric.nn, and load_state_dict is strict.
"""

import types

import numpy as np
import pytest

import dgat
import dgat.pyg

torch = pytest.importorskip("torch", reason="torch is not installed; test_pyg.py has the same formulas in NumPy")

DATA = {"features": 6, "classes": 2}


def parameter(*shape):
    return torch.nn.Parameter(torch.randn(shape))


def linear(columns, width, bias=False):
    return torch.nn.Linear(columns, width, bias=bias)


def total(values, target, nodes):
    return torch.zeros((nodes, *values.shape[1:])).index_add(0, target, values)


def attended(score, values, edge_index):
    """Softmax of the scores [arcs, heads] over the arcs of a target, and the sums of values [N, heads, d]."""
    source, target = edge_index
    score = (score - score.max()).exp()
    alpha = score / total(score, target, len(values))[target]
    return total(alpha.unsqueeze(-1) * values[source], target, len(values)).flatten(1)


def leaky(x):
    return torch.nn.functional.leaky_relu(x, 0.2)


class GATConv(torch.nn.Module):
    """GATConv(columns, width / heads, heads, edge_dim=edge_dim, add_self_loops=False, bias=False)."""

    def __init__(self, columns, width, heads, edge_dim=None):
        super().__init__()
        self.heads, each = heads, width // heads
        self.lin = linear(columns, width)
        self.att_src, self.att_dst = parameter(1, heads, each), parameter(1, heads, each)
        if edge_dim:
            self.lin_edge, self.att_edge = linear(edge_dim, width), parameter(1, heads, each)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        h = self.lin(x).view(len(x), self.heads, -1)
        score = (h * self.att_src).sum(-1)[source] + (h * self.att_dst).sum(-1)[target]
        if hasattr(self, "lin_edge"):
            e = self.lin_edge(edge_attr).view(len(source), self.heads, -1)
            score = score + (e * self.att_edge).sum(-1)
        return attended(leaky(score), h, edge_index)


class GATv2Conv(torch.nn.Module):
    """GATv2Conv(columns, width / heads, heads, add_self_loops=False, bias=False)."""

    def __init__(self, columns, width, heads):
        super().__init__()
        self.lin_l, self.lin_r = linear(columns, width), linear(columns, width)
        self.att = parameter(1, heads, width // heads)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        heads = self.att.shape[1]
        left, right = (lin(x).view(len(x), heads, -1) for lin in (self.lin_l, self.lin_r))
        return attended((leaky(left[source] + right[target]) * self.att).sum(-1), left, edge_index)


class TransformerConv(torch.nn.Module):
    """TransformerConv(columns, width / heads, heads, bias=False); its root term included."""

    def __init__(self, columns, width, heads):
        super().__init__()
        self.heads = heads
        self.lin_key, self.lin_query, self.lin_value = (linear(columns, width, bias=True) for _ in range(3))
        self.lin_skip = linear(columns, width)
        for of_no_use in (self.lin_skip.weight, self.lin_query.bias):  # gt has neither
            torch.nn.init.zeros_(of_no_use)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        q, k, v = (lin(x).view(len(x), self.heads, -1) for lin in (self.lin_query, self.lin_key, self.lin_value))
        score = (q[target] * k[source]).sum(-1) / q.shape[2] ** 0.5
        return attended(score, v, edge_index) + self.lin_skip(x)


class GCNConv(torch.nn.Module):
    """GCNConv(columns, width); the graph has a self loop at every node."""

    def __init__(self, columns, width, heads):
        super().__init__()
        self.lin, self.bias = linear(columns, width), parameter(width)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        root = total(torch.ones(len(target)), target, len(x)).rsqrt()
        weight = (root[source] * root[target]).unsqueeze(-1)
        return total(weight * self.lin(x)[source], target, len(x)) + self.bias


class SAGEConv(torch.nn.Module):
    """SAGEConv(columns, width), which means over the neighbours without the node itself."""

    def __init__(self, columns, width, heads):
        super().__init__()
        self.lin_l, self.lin_r = linear(columns, width, bias=True), linear(columns, width)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index[:, edge_index[0] != edge_index[1]]
        mean = total(x[source], target, len(x)) / total(torch.ones(len(target)), target, len(x)).unsqueeze(-1)
        return self.lin_l(mean) + self.lin_r(x)


def directional_conv(columns, width, heads):
    return GATConv(columns, width, heads, edge_dim=2)


LAYERS = {"gat": GATConv, "dgat": directional_conv, "gatv2": GATv2Conv, "gt": TransformerConv, "gcn": GCNConv,
          "sage": SAGEConv}  # fmt: skip
DEEP = {"recipe": "deep", "norm": "none", "skip": "none"}  # two convolutions with ReLU, then a linear map


def recipe_of(model):
    return DEEP if model in ("gcn", "sage") else {"recipe": "classic"}


def convolutions(model):
    """Two layers; in recipe classic the second is the output."""
    last = (16, 16, 2) if model in ("gcn", "sage") else (16, 1, 1)
    return [LAYERS[model](6, 16, 2), LAYERS[model](*last)]


def probabilities(model, convs, output, blocks, mode):
    """Of class 1, from the graph that DirectionalRewiring makes."""
    data = types.SimpleNamespace(edge_index=torch.from_numpy(blocks.graph.edge_index), num_nodes=80)
    data = dgat.pyg.DirectionalRewiring(gamma=0.3, rewire=mode)(data)
    arcs = data.edge_index, data.edge_attr
    with torch.no_grad():
        h = convs[0](torch.from_numpy(np.array(blocks.x)), *arcs)
        if model not in ("gcn", "sage"):
            return convs[1](torch.nn.functional.elu(h), *arcs).sigmoid().numpy()[:, 0]
        return output(convs[1](h.relu(), *arcs).relu()).sigmoid().numpy()[:, 0]


def mode_of(model):
    return "prune-far+add" if model == "dgat" else "none"


@pytest.mark.parametrize("model", LAYERS)
def test_a_module_with_our_weights_computes_what_we_do(blocks, small, model):
    mode, options = mode_of(model), {**small, **recipe_of(model), "layers": 2}
    directions = {"gamma": 0.3, "rewire": mode} if model == "dgat" else {}
    clf = dgat.NodeClassifier(model=model, **options, **directions).fit(blocks)
    convs, output = convolutions(model), linear(16, 1, bias=True)
    for layer, conv in enumerate(convs):
        conv.load_state_dict(dgat.pyg.state_dict(clf, layer))
    ours = clf.state_dict()
    if "output.weight" in ours:
        output.load_state_dict({name: torch.from_numpy(ours["output." + name]) for name in ("weight", "bias")})
    expected = clf.predict_proba()[:, 1]
    assert np.ptp(expected) > 0.01
    assert np.allclose(probabilities(model, convs, output, blocks, mode), expected, atol=1e-5)


@pytest.mark.parametrize("model", LAYERS)
def test_a_classifier_with_weights_of_torch_computes_what_torch_does(blocks, model):
    torch.manual_seed(0)
    mode, convs, output = mode_of(model), convolutions(model), linear(16, 1, bias=True)
    others = {f"output.{name}": value for name, value in output.state_dict().items()}
    clf = dgat.pyg.from_state_dict(
        [conv.state_dict() for conv in convs], model=model, rewire=mode, hidden=16, heads=2, gamma=0.3,
        others=others if recipe_of(model) is DEEP else None, **recipe_of(model), **DATA,
    )  # fmt: skip
    expected = probabilities(model, convs, output, blocks, mode)
    assert np.ptp(expected) > 0.01 and np.allclose(clf.predict_proba(blocks)[:, 1], expected, atol=1e-5)


def test_tensors_stay_tensors(blocks):
    graph = types.SimpleNamespace(edge_index=torch.from_numpy(blocks.graph.edge_index), num_nodes=80)
    out = dgat.pyg.DirectionalRewiring()(graph)
    assert out.edge_index.dtype == torch.int64 and out.edge_attr.dtype == torch.float32
    assert dgat.Graph.from_torch(graph.edge_index, 80) == blocks.graph == dgat.Graph.from_pyg(graph)
