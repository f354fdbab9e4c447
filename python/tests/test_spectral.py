"""Spectra and rewiring, against dense computations on small graphs."""

import gc
import inspect
import pickle
import subprocess
import types

import numpy as np
import pytest
import scipy.sparse.linalg

import dgat
import dgat.pyg
from conftest import shared, two_blocks


def laplacian(g, alpha, gamma):
    a = g.to_scipy().toarray().astype(float)
    d = a.sum(axis=1)
    m = gamma * d + 1 - gamma
    return gamma * np.diag(m**-alpha) @ (np.diag(d) - a) @ np.diag(m ** (alpha - 1))


@pytest.mark.parametrize("alpha, gamma", [(1, 0.3), (0.5, 1), (0, 0.7)])
def test_eigenpairs_are_those_of_the_dense_matrix(alpha, gamma):
    g = two_blocks().graph
    s = dgat.spectrum(g, alpha=alpha, gamma=gamma, k=3)
    matrix = laplacian(g, alpha, gamma)
    values = np.sort(np.linalg.eigvals(matrix).real)
    assert np.allclose(s.eigenvalues, values[1:4], atol=1e-9)
    assert np.allclose(matrix @ s.eigenvectors, s.eigenvectors * s.eigenvalues, atol=1e-7)
    assert np.allclose(np.linalg.norm(s.eigenvectors, axis=0), 1)
    assert s.converged and (s.residuals < 1e-8).all() and (s.multiplicity == 1).all()


@pytest.mark.parametrize(
    "options",
    [{"laplacian": "authors", "gamma": 0.4, "alpha": 0.7}, {"laplacian": "default", "gamma": 0.4}, {"k": 3, "components": "first"}],
    ids=["authors", "default", "first"],
)
def test_every_option_means_what_it_means_to_the_command_line(binary, tmp_path, options):
    data = two_blocks()
    data.save("a.npz")
    names = {"k": "eigenvectors"}
    flags = [part for key, value in options.items() for part in ("--" + names.get(key, key), str(value))]
    subprocess.run([binary, "spectrum", "a.npz", "--out", "phi.npz", *flags], check=True, capture_output=True)
    s = dgat.spectrum(data, **options)
    assert np.array_equal(s.eigenvectors, np.load("phi.npz")["eigenvectors"])
    assert np.array_equal(s.eigenvalues, np.load("phi.npz")["eigenvalues"])


def test_functions_have_the_options_and_defaults_of_the_table():
    """An option that is new in the table belongs to these functions, too."""
    table = {row["key"]: row["default"] for row in dgat.options() if row["group"] == "Direction"}
    table["k"], table["seed"] = table.pop("eigenvectors"), "0"
    del table["directional"]  # of networks
    without_advice = {"alpha": 1.0, "gamma": 0.3, "rewire": "prune-far+add", "epsilon": None}  # the table says auto
    functions = {
        dgat.spectrum: {"rewire", "epsilon"},
        dgat.pyg.DirectionalRewiring: set(),
    }
    for function, left_out in functions.items():
        given = inspect.signature(function).parameters
        for name in set(table) - left_out:
            default = given[name].default
            assert default == without_advice.get(name, default)
            assert name in without_advice or str(default) == table[name], name


def test_directions_of_the_authors_rewire(blocks):
    made = dgat.rewire(blocks, {"laplacian": "authors", "gamma": 1, "alpha": 1, "rewire": "hub", "epsilon": None})
    s = dgat.spectrum(blocks, laplacian="authors", gamma=1)
    assert np.array_equal(made.edge_attr, dgat.rewire(blocks, s, mode="hub").edge_attr)
    data = types.SimpleNamespace(edge_index=blocks.graph.edge_index, num_nodes=80)
    again = dgat.pyg.DirectionalRewiring(laplacian="authors", gamma=1, rewire="hub")(data)
    assert np.array_equal(made.edge_attr, again.edge_attr)
    with pytest.raises(ValueError, match="gamma"):
        dgat.spectrum(blocks, laplacian="authors", gamma=0)


def test_vectors_are_not_copied_and_outlive_the_spectrum():
    s = dgat.spectrum(two_blocks().graph, k=2)
    vectors, expected = s.eigenvectors, s.eigenvectors.copy()
    assert not vectors.flags.owndata and vectors.flags.f_contiguous
    del s
    gc.collect()
    assert np.array_equal(vectors, expected)


def test_a_spectrum_is_pickled():
    s = dgat.spectrum(two_blocks().graph)
    again = pickle.loads(pickle.dumps(s))
    assert np.array_equal(again.eigenvectors, s.eigenvectors) and again.gamma == s.gamma


def test_wrong_options_are_value_errors():
    g = two_blocks().graph
    for wrong in ({"gamma": 2}, {"alpha": -1}, {"k": 0}, {"solver": "none"}, {"components": "all"}):
        with pytest.raises(ValueError):
            dgat.spectrum(g, **wrong)


def test_edge_features_follow_their_formula():
    g = two_blocks().graph
    s = dgat.spectrum(g)
    r = dgat.rewire(g, s, mode="none")
    phi = s.eigenvectors[:, 0]
    source, target = r.edge_index
    slope = phi[source] - phi[target]
    total = np.zeros(g.num_nodes)
    np.add.at(total, target, np.abs(slope))
    gradient = slope / (total[target] + 1e-8)
    loops = source == target
    assert loops.sum() == g.num_nodes
    sums = np.zeros(g.num_nodes)
    np.add.at(sums, target, gradient)
    expected = np.stack([np.abs(gradient), gradient], axis=1)
    expected[loops, 1] = -sums[target[loops]]
    assert np.allclose(r.edge_attr, expected, atol=1e-6)
    assert (np.diff(target) >= 0).all()


def test_pruning_drops_the_edges_beyond_the_quantile():
    g = two_blocks().graph
    s = dgat.spectrum(g)
    r = dgat.rewire(g, s, mode="prune-far", epsilon="q0.8", self_loops=False)
    phi = s.eigenvectors[:, 0]
    source, target = g.edge_index
    distance = np.abs(phi[source] - phi[target])
    keep = distance <= r.report["epsilon"]
    assert r.report["edges_after"] == keep.sum() // 2 == r.graph.num_edges
    assert r.report["epsilon"] == pytest.approx(np.quantile(distance[source < target], 0.8))
    assert {tuple(e) for e in r.edge_index.T} == {tuple(e) for e in g.edge_index.T[keep]}


def test_auto_reads_training_labels_only(blocks):
    s = dgat.spectrum(blocks)
    train = blocks.train_mask[:, 0]
    r = dgat.rewire(blocks, s, mode="auto", y=blocks.y, train=train)
    hidden = np.where(train, blocks.y, 1 - blocks.y)
    assert dgat.rewire(blocks, s, mode="auto", y=hidden, train=train).report == r.report
    with pytest.raises(ValueError):
        dgat.rewire(blocks, s, mode="auto")


@pytest.mark.parametrize(
    "train, text",
    [([99], r"node 99 is outside \[0, 80\)"), ([-1], "node -1"), (np.arange(80) % 2, "twice; a mask has the type bool"),
     (np.ones(7, bool), "got 7 for 80 nodes"), ([0.5], "whole numbers")],
)  # fmt: skip
def test_training_nodes_that_are_none_are_refused(blocks, train, text):
    with pytest.raises(ValueError, match="train: .*" + text):
        dgat.rewire(blocks, np.arange(80.0), mode="auto", y=blocks.y, train=train)


def test_phi_has_only_numbers(blocks):
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="phi: NaN or inf at node 3"):
            dgat.rewire(blocks, np.where(np.arange(80) == 3, wrong, 1.0))


def test_eigenvectors_that_a_graph_does_not_have_are_zero():
    s = dgat.spectrum(dgat.Graph.from_edge_index([[0, 1], [1, 2]]), k=4)
    assert s.multiplicity.tolist() == [1, 1, 0, 0] and s.converged
    assert np.allclose(np.linalg.norm(s.eigenvectors, axis=0), [1, 1, 0, 0])


def test_phi_of_another_graph_is_refused(blocks):
    with pytest.raises(ValueError, match="phi"):
        dgat.rewire(blocks, np.zeros(3))


def test_the_command_line_gives_the_same_edges_with_its_rows_swapped(binary, tmp_path):
    data, out = shared("texas.npz"), tmp_path / "new.npz"
    subprocess.run(
        [binary, "rewire", data, "--rewire", "prune-far+add", "--epsilon", "q0.8", "--out", out],
        check=True, capture_output=True,
    )  # fmt: skip
    d = dgat.load(data)
    r = dgat.rewire(d, dgat.spectrum(d, gamma=0.3), epsilon="q0.8")
    file = np.load(out)
    assert np.array_equal(r.edge_index, file["edge_index"][::-1])
    assert np.array_equal(r.edge_attr, file["edge_attr"])
