"""Graphs and data sets: what goes in is returned, without copies."""

import copy
import gc
import pickle
import re
import subprocess
import types

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

import dgat

COMMON_FLAGS = {"help", "out", "json", "threads", "quiet", "memory_per_byte"}  # of every verb


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


def path_of_three(kind):
    """The path 0 - 1 - 2, as other packages have it."""
    matrix = scipy.sparse.coo_matrix(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
    frame = pandas.DataFrame({"a": [0, 1], "b": [1, 2]})
    if kind == "nullable":
        return dgat.Graph.from_pandas(frame.astype("Int64"), "a", "b")
    if kind == "dense":
        return dgat.Graph.from_scipy(matrix.toarray())
    if kind == "repeated":  # entries of SciPy at one place are one number, their sum
        three = scipy.sparse.coo_matrix(([1, 1, 5, -5], ([0, 1, 0, 0], [1, 2, 2, 2])), shape=(3, 3))
        return dgat.Graph.from_scipy(three)
    if kind == "pyg without num_nodes":
        return dgat.Graph.from_pyg(types.SimpleNamespace(edge_index=[[0, 1], [1, 2]], x=np.ones((3, 1))))
    return dgat.Graph.from_networkx(networkx.MultiGraph([(0, 1), (0, 1), (1, 2)]))


@pytest.mark.parametrize("kind", ["nullable", "dense", "repeated", "pyg without num_nodes", "multigraph"])
def test_other_forms_of_a_graph_are_read(kind):
    assert path_of_three(kind) == dgat.Graph.from_edge_index([[0, 1], [1, 2]])


def test_repeated_entries_of_a_matrix_are_added_to_one_weight():
    by_places = scipy.sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    by_rows = scipy.sparse.csr_matrix(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    for matrix in (by_places, by_rows):
        assert dgat.Graph.from_scipy(matrix, weighted=True).weights.tolist() == [3, 3]
        assert matrix.nnz == 2  # the argument is left as it is


@pytest.mark.parametrize("function", [dgat.spectrum, lambda g: dgat.homophily(g, np.arange(34) % 2)])
def test_graphs_of_other_packages_can_be_arguments(function):
    nx = networkx.karate_club_graph()
    g = dgat.Graph.from_networkx(nx)
    expected = repr(function(g))
    for same in (nx, g.to_scipy(), g.edge_index, types.SimpleNamespace(edge_index=g.edge_index, num_nodes=34)):
        assert repr(function(same)) == expected
    for wrong in ("texas", None, {}):
        with pytest.raises(TypeError, match="a graph was expected"):
            function(wrong)


def test_wrong_lists_of_nodes_are_value_errors():
    nx = networkx.path_graph(3)
    with pytest.raises(ValueError, match="twice"):
        dgat.Graph.from_networkx(nx, nodelist=[0, 0, 1])
    with pytest.raises(ValueError, match="7 of nodelist is not in the graph"):
        dgat.Graph.from_networkx(nx, nodelist=[0, 7])
    with pytest.raises(TypeError):
        dgat.Graph.from_edge_index([[0], [1]], num_nodes=2.5)
    with pytest.raises(ValueError, match="edge_weight"):
        dgat.Graph.from_pyg(types.SimpleNamespace(edge_index=[[0], [1]]), weighted=True)


@pytest.mark.parametrize("kind", ["csbm", "minesweeper", "mixhop", "worlds"])
def test_a_generated_data_set_is_that_of_the_command_line(binary, tmp_path, kind):
    options = {"minesweeper": {"height": 6, "width": 7, "mines": 0.3}, "mixhop": {"nodes": 200, "mu": 0.2, "edges_per_node": 3}}
    chosen = options.get(kind, {"nodes": 200, "homophily": 0.2, "degree": 6.0})
    flags = [part for key, value in chosen.items() for part in ("--" + key.replace("_", "-"), str(value))]
    more = ["--seed", "3", "--splits", "2", "--split", "50/25/25", "--out", tmp_path / "a.npz"]
    subprocess.run([binary, "generate", kind, *flags, *more], check=True, capture_output=True)
    theirs, ours = dgat.load(tmp_path / "a.npz"), dgat.generate(kind, seed=3, splits=2, split="50/25/25", **chosen)
    assert ours.graph == theirs.graph and np.array_equal(ours.x, theirs.x) and np.array_equal(ours.y, theirs.y)
    assert np.array_equal(ours.train_mask, theirs.train_mask) and np.array_equal(ours.test_mask, theirs.test_mask)


@pytest.mark.parametrize("kind", ["csbm", "minesweeper", "mixhop", "worlds"])
def test_generators_have_the_options_of_the_command_line(binary, kind):
    printed = subprocess.run([binary, "generate", kind, "--help"], check=True, capture_output=True, text=True).stdout
    flags = {name.replace("-", "_") for name in re.findall(r"--([a-z-]+)", printed)} - COMMON_FLAGS
    with pytest.raises(ValueError, match="no option hight") as raised:
        dgat.generate(kind, hight=3)
    assert set(str(raised.value).split("it has ")[1].split(", ")) == flags
    assert all(f"``{name}``" in dgat.generate.__doc__ for name in flags)


def test_wrong_options_of_generators_are_value_errors():
    for kind, wrong in (("ring", {}), ("csbm", {"nodes": "many"}), ("csbm", {"homophily": 2}), ("csbm", {"nodes": 2.5})):
        with pytest.raises(ValueError):
            dgat.generate(kind, **wrong)


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
