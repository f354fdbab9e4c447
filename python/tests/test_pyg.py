"""PyTorch Geometric: formulas of its layers in NumPy, and torch where it is installed."""

import types

import numpy as np
import pytest

import dgat
import dgat.pyg


def leaky(x):
    return np.where(x > 0, x, 0.2 * x)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def weighted_sum(score, values, edge_index, nodes):
    """Softmax of the scores [arcs, heads] over the arcs of a target, and the sums of values [N, heads, d]."""
    source, target = edge_index
    score = np.exp(score)
    total = np.zeros((nodes, score.shape[1]))
    np.add.at(total, target, score)
    alpha = score / total[target]
    out = np.zeros_like(values)
    np.add.at(out, target, alpha[..., None] * values[source])
    return out.reshape(nodes, -1), alpha


def gat_conv(x, edge_index, edge_attr, state, heads):
    """GATConv(edge_dim=2, add_self_loops=False, bias=False), from its documentation."""
    source, target = edge_index
    h = (x @ state["lin.weight"].T).reshape(x.shape[0], heads, -1)
    score = (h * state["att_src"]).sum(-1)[source] + (h * state["att_dst"]).sum(-1)[target]
    if "lin_edge.weight" in state:
        e = (edge_attr @ state["lin_edge.weight"].T).reshape(len(source), heads, -1)
        score = score + (e * state["att_edge"]).sum(-1)
    return weighted_sum(leaky(score), h, edge_index, x.shape[0])


def gatv2_conv(x, edge_index, edge_attr, state, heads):
    """GATv2Conv(add_self_loops=False, bias=False)."""
    source, target = edge_index
    left = (x @ state["lin_l.weight"].T).reshape(x.shape[0], heads, -1)
    right = (x @ state["lin_r.weight"].T).reshape(x.shape[0], heads, -1)
    score = (leaky(left[source] + right[target]) * state["att"]).sum(-1)
    return weighted_sum(score, left, edge_index, x.shape[0])


def transformer_conv(x, edge_index, edge_attr, state, heads):
    """TransformerConv(bias=False), its root term included."""
    source, target = edge_index
    q, k, v = (
        (x @ state[f"lin_{name}.weight"].T + state[f"lin_{name}.bias"]).reshape(x.shape[0], heads, -1)
        for name in ("query", "key", "value")
    )
    score = (q[target] * k[source]).sum(-1) / np.sqrt(q.shape[2])
    out, alpha = weighted_sum(score, v, edge_index, x.shape[0])
    return out + x @ state["lin_skip.weight"].T, alpha


CONVOLUTIONS = {"gat": gat_conv, "dgat": gat_conv, "gatv2": gatv2_conv, "gt": transformer_conv}


def numpy_state(clf, layer):
    return {k: np.asarray(v, dtype=np.float64) for k, v in dgat.pyg.state_dict(clf, layer).items()}


@pytest.mark.parametrize("model, more", [("gat", {}), ("dgat", {}), ("gatv2", {}), ("gt", {}), ("gt", {"conv_bias": True})])
def test_an_attention_of_pyg_with_our_weights_computes_what_we_do(blocks, small, model, more):
    mode = "prune-far+add" if model == "dgat" else "none"
    options = {**small, **more, "layers": 2, "gamma": 0.3 if model == "dgat" else None}
    clf = dgat.NodeClassifier(model=model, recipe="classic", rewire=mode, **options).fit(blocks)
    graph = types.SimpleNamespace(edge_index=blocks.graph.edge_index, num_nodes=80)
    data = dgat.pyg.DirectionalRewiring(gamma=0.3, rewire=mode)(graph)
    convolution, arcs = CONVOLUTIONS[model], (data.edge_index, data.edge_attr)
    first, alpha = convolution(blocks.x.astype(float), *arcs, numpy_state(clf, 0), 2)
    assert np.allclose(alpha, clf.attention_(0).weights, atol=1e-5)
    logit, _ = convolution(elu(first), *arcs, numpy_state(clf, 1), 1)
    assert np.allclose(1 / (1 + np.exp(-logit[:, 0])), clf.predict_proba()[:, 1], atol=1e-5)


@pytest.mark.parametrize("model", ["gcn", "sage"])
def test_a_convolution_of_pyg_with_our_weights_computes_what_we_do(blocks, small, model):
    clf = dgat.NodeClassifier(model=model, recipe="deep", norm="none", skip="none", **small).fit(blocks)
    state, x, a = numpy_state(clf, 0), blocks.x.astype(float), blocks.graph.to_scipy().toarray().astype(float)
    if model == "gcn":  # GCNConv
        root = np.diag((a.sum(axis=1) + 1) ** -0.5)
        out = root @ (a + np.eye(80)) @ root @ x @ state["lin.weight"].T + state["bias"]
    else:  # SAGEConv
        mean = a @ x / a.sum(axis=1, keepdims=True)
        out = mean @ state["lin_l.weight"].T + state["lin_l.bias"] + x @ state["lin_r.weight"].T
    assert np.allclose(np.maximum(out, 0), clf.embeddings_(), atol=1e-5)


def test_parts_of_a_transformer_that_gt_cannot_have_are_refused(blocks, small):
    clf = dgat.NodeClassifier(model="gt", recipe="classic", **{**small, "layers": 2}).fit(blocks)
    layers = [{k: np.array(v) for k, v in dgat.pyg.state_dict(clf, layer).items()} for layer in (0, 1)]
    given = {"model": "gt", "features": 6, "classes": 2, "hidden": 16, "heads": 2}
    layers[0]["lin_key.bias"][:] = 3  # adds the same to all scores of a node
    back = dgat.pyg.from_state_dict(layers, **given)
    assert np.array_equal(back.predict_proba(blocks), clf.predict_proba())
    for name in ("lin_query.bias", "lin_skip.weight"):
        layers[1][name][:] = 1
        with pytest.raises(ValueError, match=name):
            dgat.pyg.from_state_dict(layers, **given)
        layers[1][name][:] = 0


@pytest.mark.parametrize("model, recipe", [("gat", "classic"), ("dgat", "classic"), ("gatv2", "classic"),
                                           ("gt", "classic"), ("gcn", "deep"), ("sage", "deep"), ("gat", "deep")])  # fmt: skip
def test_weights_go_there_and_back(blocks, small, model, recipe):
    options = {**small, "layers": 2, "recipe": recipe}
    clf = dgat.NodeClassifier(model=model, rewire="none" if model == "dgat" else None, **options).fit(blocks)
    layers = [dgat.pyg.state_dict(clf, layer) for layer in (0, 1)]
    others = {k: v for k, v in clf.state_dict().items() if ".conv." not in k} if recipe == "deep" else None
    options.pop("layers")
    back = dgat.pyg.from_state_dict(layers, model=model, features=6, classes=2, others=others, **options)
    assert np.array_equal(back.predict_proba(blocks), clf.predict_proba())


def test_older_names_of_gat_conv_are_understood(blocks, small):
    clf = dgat.NodeClassifier(model="gat", recipe="classic", **{**small, "layers": 2}).fit(blocks)
    layers = [dict(dgat.pyg.state_dict(clf, layer)) for layer in (0, 1)]
    for layer in layers:
        layer["lin_src.weight"] = layer["lin_dst.weight"] = layer.pop("lin.weight")
    back = dgat.pyg.from_state_dict(layers, model="gat", features=6, classes=2, hidden=16, heads=2)
    assert np.array_equal(back.predict_proba(blocks), clf.predict_proba())


def test_what_has_no_counterpart_is_refused(blocks, small):
    with pytest.raises(ValueError, match="recipe residual"):
        dgat.pyg.state_dict(dgat.DGATClassifier(**small).fit(blocks))
    with pytest.raises(ValueError, match="gprgnn"):
        dgat.pyg.state_dict(dgat.NodeClassifier(model="gprgnn", hidden=8, layers=1, steps=2).fit(blocks))
    with pytest.raises(ValueError, match="lin_r.weight"):
        dgat.pyg.from_state_dict([{"lin_r.weight": np.ones((2, 2))}], model="gcn", features=2, classes=2)


class Data(types.SimpleNamespace):
    """What Data of PyTorch Geometric tells about its attributes: a method, also for names without edge_."""

    def edge_attrs(self):
        return ["edge_index", *(name for name in ("edge_weight", "kind") if hasattr(self, name))]


@pytest.mark.parametrize("container", [types.SimpleNamespace, Data])
def test_what_belongs_to_the_former_edges_is_removed(blocks, container):
    arcs = blocks.graph.num_arcs
    graph = container(edge_index=blocks.graph.edge_index, num_nodes=80, x=blocks.x, edge_weight=np.ones(arcs),
                      edge_label_index=np.zeros((2, 3)))  # fmt: skip
    if container is Data:
        graph.kind = np.zeros(arcs)
    out = dgat.pyg.DirectionalRewiring(rewire="hub")(graph)
    assert not hasattr(out, "edge_weight") and not hasattr(out, "kind") and hasattr(graph, "edge_weight")
    assert out.edge_attr.shape[0] == out.edge_index.shape[1] != arcs
    assert out.x is graph.x and out.edge_label_index is graph.edge_label_index  # neither is of the edges


def test_edge_weights_have_an_effect_where_they_are_asked_for(blocks):
    weights = 1.0 + np.minimum(*blocks.graph.edge_index)
    graph = types.SimpleNamespace(edge_index=blocks.graph.edge_index, num_nodes=80, edge_weight=weights)
    weighted = dgat.Graph.from_edge_index(blocks.graph.edge_index, 80, edge_weight=weights)
    plain, heavy = (dgat.pyg.DirectionalRewiring(weighted=w)(graph).phi for w in (False, True))
    for phi, g in ((plain, blocks.graph), (heavy, weighted)):
        assert np.array_equal(phi, dgat.spectrum(g).eigenvectors.astype(np.float32))
    assert not np.allclose(plain, heavy, atol=1e-3)


def test_labels_are_read_by_auto_alone(blocks):
    graph = types.SimpleNamespace(edge_index=blocks.graph.edge_index, num_nodes=80, y=np.linspace(0, 1, 80),
                                  train_mask=blocks.train_mask)  # fmt: skip
    assert dgat.pyg.DirectionalRewiring()(graph).edge_attr.shape[1] == 2  # a regression
    with pytest.raises(ValueError, match="y: whole numbers"):
        dgat.pyg.DirectionalRewiring(rewire="auto")(graph)


def test_the_transform_leaves_its_argument_alone(blocks):
    graph = types.SimpleNamespace(edge_index=blocks.graph.edge_index, num_nodes=80, y=blocks.y,
                                  train_mask=blocks.train_mask)  # fmt: skip
    before = graph.edge_index.copy()
    out = dgat.pyg.DirectionalRewiring(rewire="auto", k=2)(graph)
    assert np.array_equal(graph.edge_index, before) and not hasattr(graph, "edge_attr")
    assert out.edge_attr.shape == (out.edge_index.shape[1], 4) and out.phi.shape == (80, 2)
