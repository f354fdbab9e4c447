"""Classifiers: the contract of scikit-learn, and the weights of the command line."""

import copy
import inspect
import pickle
import subprocess

import joblib
import numpy as np
import pandas
import pytest
import sklearn.base
import sklearn.exceptions
from sklearn.model_selection import GridSearchCV, cross_val_score

import dgat
from conftest import ROOT, shared, two_blocks


@pytest.mark.parametrize("data", ["market", "texas"])
@pytest.mark.parametrize(
    "options",
    [{"model": "dgat"}, {"model": "dgat", "recipe": "classic", "rewire": "prune-far+add", "epsilon": "q0.8", "gamma": 0.3},
     {"model": "gcn", "recipe": "deep", "norm": "batch"}, {"model": "gprgnn", "seed": 3, "weight_decay": 0.001}],
    ids=["residual", "classic", "deep", "gprgnn"],
)  # fmt: skip
def test_fit_gives_the_weights_of_the_command_line(binary, tmp_path, small, data, options):
    data = shared("texas.npz") if data == "texas" else ROOT / "examples" / "market"
    options = {**small, **options}
    flags = [part for key, value in options.items() for part in ("--" + key.replace("_", "-"), str(value))]
    subprocess.run(
        [binary, "train", data, "--splits", "2", "--out", tmp_path / "run", *flags], check=True, capture_output=True
    )
    for split in (0, 1):
        ours = dgat.NodeClassifier(**options).fit(dgat.load(data, splits=2, seed=options.get("seed", 0)), split=split).state_dict()
        theirs = dgat.load_model(tmp_path / "run", split=split).state_dict()
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert np.array_equal(ours[name], theirs[name]), name


def test_node_numbers_give_the_weights_of_the_data_set(blocks, small):
    train, val, _ = blocks.split(0)
    by_set = dgat.NodeClassifier(model="gat", **small).fit(blocks)
    by_nodes = dgat.NodeClassifier(blocks, model="gat", **small).fit(train, blocks.y[train], val_mask=val)
    by_matrix = dgat.NodeClassifier(model="gat", **small).fit(
        blocks.x, blocks.y, graph=blocks.graph, train_mask=train, val_mask=val
    )
    for name, values in by_set.state_dict().items():
        assert np.array_equal(values, by_nodes.state_dict()[name]), name
        assert np.array_equal(values, by_matrix.state_dict()[name]), name


def test_signature_and_documentation_have_every_option_of_the_table():
    rows = [row for row in dgat.options() if row["group"] != "Data" and row["key"] != "splits"]
    names = inspect.signature(dgat.NodeClassifier).parameters
    for row in rows:
        assert row["key"] in names
        assert row["meaning"] in dgat.NodeClassifier.__doc__
    assert "model" not in inspect.signature(dgat.DGATClassifier).parameters


@pytest.mark.parametrize(
    "wrong, text",
    [({"gamma": 2}, r"gamma: must lie in \[0, 1\], got 2"), ({"hidden": "wide"}, "hidden: a whole number"),
     ({"recipe": "old"}, "recipe: must be one of"), ({"heads": 3}, "heads")],
)  # fmt: skip
def test_wrong_values_have_the_texts_of_the_command_line(blocks, small, wrong, text):
    with pytest.raises(ValueError, match=text):
        dgat.DGATClassifier(**{**small, **wrong}).fit(blocks)


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="gama"):
        dgat.DGATClassifier(gama=0.3)


def test_parameters_survive_get_set_and_clone(blocks):
    clf = dgat.DGATClassifier(blocks, gamma=0.5, layers=(1, 2))
    again = sklearn.base.clone(clf)
    assert again.get_params() == clf.get_params() and again.graph is blocks
    assert again.set_params(gamma=0.1).gamma == 0.1 and clf.gamma == 0.5
    with pytest.raises(ValueError, match="gama"):
        clf.set_params(gama=1)
    assert sklearn.base.is_classifier(clf)


def test_an_unfitted_classifier_says_so():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        dgat.DGATClassifier().predict([0])


def test_predictions_are_consistent(blocks, small):
    train, _, test = blocks.split(0)
    clf = dgat.DGATClassifier(blocks, **{**small, "steps": 60}).fit(train, blocks.y[train])
    p = clf.predict_proba(test)
    assert p.shape == (test.size, 2) and np.allclose(p.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(clf.predict(test), clf.classes_[p.argmax(axis=1)])
    assert clf.score(test, blocks.y[test]) == np.mean(clf.predict(test) == blocks.y[test]) > 0.6
    assert clf.embeddings_().shape == (80, 16)
    edge_index, weights = clf.attention_(0)
    sums = np.zeros((80, 2))
    np.add.at(sums, edge_index[1], weights)
    assert np.allclose(sums, 1, atol=1e-5)
    with pytest.raises(ValueError, match="layer 1"):
        clf.attention_(1)
    best = np.argmax(clf.history_["val"])
    assert clf.history_["step"][best] == clf.best_step_


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], ["3", "7"], [False, True], [0.0, 1.0]],
                         ids=["texts", "numbers", "digits", "bool", "float"])  # fmt: skip
def test_labels_of_any_kind_come_back(blocks, small, tmp_path, labels):
    labels = np.array(labels)
    clf = dgat.DGATClassifier(blocks, **small).fit(np.arange(80), labels[blocks.y])
    assert clf.classes_.tolist() == labels.tolist() and set(clf.predict()) <= set(labels)
    clf.save(tmp_path / "m.safetensors")
    again = dgat.load_model(tmp_path / "m.safetensors")
    assert again.classes_.dtype == labels.dtype
    assert np.array_equal(again.predict(blocks), clf.predict())
    assert again.score(blocks, labels[blocks.y]) == clf.score(np.arange(80), labels[blocks.y])


def test_classes_of_a_data_set_are_its_numbers_before_and_after_a_file(blocks, small, tmp_path):
    d = dgat.Dataset.from_arrays(blocks.graph, blocks.x, blocks.y, class_names=["no", "yes"]).with_splits(splits=1)
    clf = dgat.DGATClassifier(**small).fit(d)
    clf.save(tmp_path / "m.safetensors")
    again = dgat.load_model(tmp_path / "m.safetensors")
    assert again.classes_.tolist() == clf.classes_.tolist() == [0, 1]
    assert again.score(d, d.y) == clf.score(d, d.y)


@pytest.mark.parametrize(
    "options",
    [{"model": "dgat", "gamma": 0.7, "rewire": "add"}, {"model": "gprgnn", "extra": {"k": 3.0, "alpha": 0.4}},
     {"model": "dgat", "recipe": "classic"}, {"model": "gcn", "recipe": "deep", "norm": "layer"}],
    ids=["dgat", "gprgnn", "classic", "deep"],
)  # fmt: skip
def test_a_loaded_model_has_its_options(blocks, small, tmp_path, options):
    clf = dgat.NodeClassifier(**options, **small).fit(blocks)
    clf.save(tmp_path / "m.safetensors")
    again = dgat.load_model(tmp_path / "m.safetensors")
    for name, value in options.items():
        assert again.extra.items() >= value.items() if name == "extra" else getattr(again, name) == value, name
    trained = sklearn.base.clone(again).fit(blocks)
    for name, values in clf.state_dict().items():
        assert np.array_equal(values, trained.state_dict()[name]), name


def test_predictions_belong_to_the_caller(blocks, small):
    clf = dgat.DGATClassifier(**small).fit(blocks)
    expected = clf.predict_proba([3, 4])
    clf.predict_proba()[:] = 0
    assert np.array_equal(clf.predict_proba([3, 4]), expected)


def test_a_training_that_fails_leaves_the_former_one(blocks, small):
    clf = dgat.DGATClassifier(blocks, **small).fit(np.arange(80), blocks.y)
    expected = clf.predict()
    with pytest.raises(ValueError, match="heads"):
        clf.set_params(heads=3).fit(np.arange(80), np.array(["no", "yes"])[blocks.y])
    assert np.array_equal(clf.predict(), expected)


def test_labels_that_are_missing_are_no_class(blocks, small):
    half = np.arange(80) < 40
    names = np.where(half, np.array(["no", "yes"])[blocks.y], None)
    by_number = dgat.DGATClassifier(**small).fit(blocks.x, np.where(half, blocks.y, -1), graph=blocks.graph)
    for column in (names, pandas.Series(names), pandas.Series(names, dtype="string")):
        by_name = dgat.DGATClassifier(**small).fit(blocks.x, column, edge_index=blocks.graph.edge_index)
        assert by_name.classes_.tolist() == ["no", "yes"]
        assert np.array_equal(by_name.predict_proba(), by_number.predict_proba())


def test_a_mask_of_nodes_takes_their_labels_or_all(blocks, small):
    mask = blocks.train_mask[:, 0]
    clf = dgat.DGATClassifier(blocks, **small)
    one, all_ = clf.fit(mask, blocks.y[mask]).predict_proba(), clf.fit(mask, blocks.y).predict_proba()
    numbers = clf.fit(np.flatnonzero(mask), blocks.y[mask]).predict_proba()
    assert np.array_equal(one, all_) and np.array_equal(one, numbers)
    assert clf.score(mask, blocks.y) == clf.score(mask, blocks.y[mask]) == clf.score(np.flatnonzero(mask), blocks.y[mask])


def test_a_score_needs_a_label_for_every_node(blocks, small):
    clf = dgat.DGATClassifier(**small).fit(blocks)
    assert clf.score(blocks.x, blocks.y, graph=blocks.graph) == clf.score(np.arange(80), blocks.y)
    with pytest.raises(ValueError, match="got 10 nodes and 80 labels"):
        clf.score(np.arange(10), blocks.y)


def test_pickle_and_copy_predict_the_same(blocks, small):
    clf = dgat.DGATClassifier(blocks, **small).fit(blocks)
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert np.array_equal(again.predict_proba(), clf.predict_proba())


def test_another_graph_can_be_predicted(blocks, small):
    clf = dgat.DGATClassifier(**small).fit(blocks)
    other = two_blocks(60, seed=1)
    assert clf.predict(other).shape == (60,)
    assert np.array_equal(clf.predict(other.x, graph=other.graph), clf.predict(other))
    with pytest.raises(ValueError, match="features"):
        clf.predict(np.ones((60, 5)), graph=other.graph)


def test_a_range_of_depths_is_tried(blocks, small):
    clf = dgat.DGATClassifier(**{**small, "layers": (1, 2)}).fit(blocks)
    assert clf.layers_ in (1, 2) and set(clf.history_["layers"]) == {clf.layers_}


def test_a_run_is_kept_and_continued(blocks, small, tmp_path):
    clf = dgat.DGATClassifier(out=tmp_path / "run", **small).fit(blocks)
    assert (tmp_path / "run" / "split-0.safetensors").exists()
    with pytest.raises(ValueError, match="run"):
        clf.set_params(existing="refuse").fit(blocks)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda c, d: c.fit([0, 1, 2], [0, 1]), "3 nodes and 2 labels"),
        (lambda c, d: c.fit(d.x[:9], d.y, graph=d.graph), "9 rows of features for 80 nodes"),
        (lambda c, d: c.fit([0, 1], [0, 0]), "two classes"),
        (lambda c, d: c.fit([0, 999], [0, 1]), "nodes"),
        (lambda c, d: c.fit(d.x, d.y), "edge_index"),
        (lambda c, d: dgat.DGATClassifier().fit([0, 1], [0, 1]), "a graph is needed"),
    ],
)
def test_wrong_calls_of_fit_say_what_to_do(blocks, call, text):
    with pytest.raises(ValueError, match=text):
        call(dgat.DGATClassifier(blocks), blocks)


def test_cross_validation_and_grid_search_over_gamma(texas, small):
    nodes = np.flatnonzero(np.isin(texas.y, [0, 2, 3, 4]))  # class 1 has a single node
    clf = dgat.DGATClassifier(texas, **small)
    assert cross_val_score(clf, nodes, texas.y[nodes], cv=2).shape == (2,)
    search = GridSearchCV(clf, {"gamma": [0.1, 1.0]}, cv=2).fit(nodes, texas.y[nodes])
    assert search.best_params_["gamma"] in (0.1, 1.0)
    assert search.best_estimator_.predict(nodes).shape == nodes.shape


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])  # new processes, forks, threads
def test_jobs_of_joblib_give_the_same_scores(blocks, small, backend):
    clf, nodes = dgat.DGATClassifier(blocks, rewire="add", **small), np.arange(80)
    one = cross_val_score(clf, nodes, blocks.y, cv=2)
    with joblib.parallel_backend(backend, n_jobs=2):
        assert np.array_equal(cross_val_score(clf, nodes, blocks.y, cv=2), one)
