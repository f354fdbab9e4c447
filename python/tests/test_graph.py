"""Graphs and data sets: what goes in is returned, without copies."""

import copy
import gc
import pickle
import types

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

import dgat


def test_an_undirected_graph_holds_both_directions_without_loops_and_repeats():
    g = dgat.Graph.from_edge_index([[0, 1, 2, 2], [1, 0, 2, 1]], num_nodes=4)
    assert g.indptr.tolist() == [0, 1, 3, 4, 4]
    assert g.indices.tolist() == [1, 0, 2, 1]
    assert (g.num_edges, g.dropped_self_loops, g.dropped_duplicates) == (2, 1, 1)


def test_the_row_of_a_directed_arc_is_its_target():
    g = dgat.Graph.from_edge_index([[0, 0], [1, 2]], directed=True)
    assert g.edge_index.tolist() == [[0, 0], [1, 2]]
    assert g.to_scipy().toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_views_are_read_only_and_keep_their_owner_alive():
    g = dgat.Graph.from_edge_index([np.arange(999), np.arange(1, 1000)])
    indices, expected = g.indices, g.indices.copy()
    with pytest.raises(ValueError):
        indices[0] = 5
    del g
    gc.collect()
    dgat.Graph.from_edge_index([np.arange(999), np.arange(999)[::-1]])  # would use freed memory
    assert np.array_equal(indices, expected)


def test_two_views_are_the_same_memory():
    g = dgat.Graph.from_edge_index([[0], [1]])
    assert np.shares_memory(g.indices, g.indices)


def test_conversions_go_both_ways():
    nx = networkx.karate_club_graph()
    g = dgat.Graph.from_networkx(nx)
    assert g.num_edges == nx.number_of_edges()
    assert networkx.utils.edges_equal(g.to_networkx().edges(), nx.edges())
    assert dgat.Graph.from_scipy(g.to_scipy()) == g
    frame = pandas.DataFrame(g.edge_index.T, columns=["a", "b"])
    assert dgat.Graph.from_pandas(frame, "a", "b") == g
    digraph = networkx.DiGraph([(0, 1), (1, 2)])
    assert dgat.Graph.from_networkx(digraph).directed


def test_node_names_of_networkx_are_numbered_in_order():
    nx = networkx.Graph([("a", "b"), ("c", "b")])
    assert dgat.Graph.from_networkx(nx, nodelist=["b", "a", "c"]).indptr.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    "edges, nodes, text",
    [
        ([[0, 1]], None, "shape"),
        ([[0], [5]], 3, r"edge_index\[:, 0\]: node 5 is outside \[0, 3\)"),
        ([[0.5], [1]], None, "whole numbers"),
        ([[-1], [1]], None, "node -1"),
    ],
)
def test_bad_edges_are_a_value_error_that_says_where(edges, nodes, text):
    with pytest.raises(ValueError, match=text):
        dgat.Graph.from_edge_index(edges, nodes)


def test_graphs_are_pickled_and_copied():
    g = dgat.Graph.from_edge_index([[0, 1], [1, 2]], num_nodes=5)
    again = pickle.loads(pickle.dumps(g))
    assert again == g and again.num_nodes == 5
    assert copy.deepcopy(g) is g


def test_homophily_of_a_path():
    g = dgat.Graph.from_edge_index([[0, 1, 2], [1, 2, 3]])
    h = dgat.homophily(g, [0, 0, 1, 1])
    assert h["edge"] == pytest.approx(2 / 3)
    assert h["node"] == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert np.allclose(h["compatibility"], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    with pytest.raises(ValueError, match="one label per node"):
        dgat.homophily(g, [0, 1])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_data_set_survives_a_file_and_a_pickle(tmp_path, sparse):
    x = np.zeros((12, 9), dtype=np.float32)
    x[np.arange(12), np.arange(12) % 9] = 1 + np.arange(12)
    g = dgat.Graph.from_edge_index([np.arange(11), np.arange(1, 12)])
    d = dgat.Dataset.from_arrays(g, scipy.sparse.coo_matrix(x) if sparse else x, np.arange(12) % 3)
    d = d.with_splits("50/25/25", splits=4)
    d.save(tmp_path / "a.npz")
    for again in (dgat.load(tmp_path / "a.npz"), pickle.loads(pickle.dumps(d))):
        assert np.array_equal(again.x, x)
        assert np.array_equal(again.x_sparse.toarray(), x)
        assert np.array_equal(again.y, d.y) and again.graph == g
        assert np.array_equal(again.train_mask, d.train_mask) and again.test_mask.shape == (12, 4)


def test_dense_features_are_a_view():
    g = dgat.Graph.from_edge_index([[0], [1]])
    d = dgat.Dataset.from_arrays(g, np.ones((2, 3)), [0, 1])
    x = d.x
    assert np.shares_memory(x, d.x) and not x.flags.writeable
    del d
    gc.collect()
    assert x.sum() == 6


def test_masks_and_splits_agree(blocks):
    train, val, test = blocks.split(1)
    assert np.array_equal(np.flatnonzero(blocks.train_mask[:, 1]), train)
    assert not (blocks.train_mask & blocks.val_mask).any()
    assert train.size + val.size + test.size == 80
    with pytest.raises(ValueError, match=r"split: 2 is outside \[0, 2\)"):
        blocks.split(2)


def test_a_damaged_file_is_a_value_error_that_names_it(tmp_path):
    (tmp_path / "broken.npz").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="broken.npz"):
        dgat.load(tmp_path / "broken.npz")


def weighted_graphs():
    edges, weights = [[0, 1, 2], [1, 2, 3]], [2.0, 0.5, 4.0]
    by_arrays = dgat.Graph.from_edge_index(edges, edge_weight=weights)
    nx = networkx.Graph()
    nx.add_weighted_edges_from(zip(*edges, weights))
    frame = pandas.DataFrame({"a": edges[0], "b": edges[1], "w": weights})
    matrix = scipy.sparse.coo_matrix((weights, edges), shape=(4, 4))
    data = types.SimpleNamespace(edge_index=edges, edge_weight=weights, num_nodes=4)
    return by_arrays, [
        dgat.Graph.from_networkx(nx, weight="weight"), dgat.Graph.from_pandas(frame, "a", "b", weight="w"),
        dgat.Graph.from_scipy(matrix, weighted=True), dgat.Graph.from_pyg(data, weighted=True),
        pickle.loads(pickle.dumps(by_arrays)), dgat.Graph.from_scipy(by_arrays.to_scipy(), weighted=True),
        dgat.Graph.from_networkx(by_arrays.to_networkx(), weight="weight"),
    ]  # fmt: skip


def test_edge_weights_go_through_every_conversion():
    g, others = weighted_graphs()
    assert g.weights.tolist() == [2, 2, 0.5, 0.5, 4, 4] and not g.weights.flags.writeable
    assert all(other == g for other in others)
    plain = dgat.Graph.from_edge_index([[0, 1, 2], [1, 2, 3]])
    assert plain.weights is None and plain != g
    with pytest.raises(ValueError, match="edge_weight"):
        dgat.Graph.from_edge_index([[0, 1], [1, 2]], edge_weight=[1.0])
    with pytest.raises(ValueError):
        dgat.Graph.from_edge_index([[0], [1]], edge_weight=[-1.0])


def test_the_laplacian_uses_edge_weights():
    g, _ = weighted_graphs()
    a = g.to_scipy().toarray().astype(float)
    values = np.linalg.eigvalsh(np.diag(a.sum(axis=1)) - a)  # gamma -> 0 up to the factor gamma
    assert np.allclose(dgat.spectrum(g, gamma=1e-6, alpha=0.5).eigenvalues / 1e-6, values[1], rtol=1e-4)


def test_a_data_set_of_pyg(blocks):
    data = types.SimpleNamespace(
        edge_index=blocks.graph.edge_index, num_nodes=80, x=blocks.x, y=blocks.y, train_mask=blocks.train_mask,
        val_mask=blocks.val_mask, test_mask=blocks.test_mask,
    )  # fmt: skip
    d = dgat.Dataset.from_pyg(data)
    assert d.graph == blocks.graph and np.array_equal(d.x, blocks.x) and np.array_equal(d.y, blocks.y)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(d.split(1), blocks.split(1)))
