"""Advice, studies and pages."""

import json
import subprocess

import numpy as np
import pytest

import dgat


def test_advice_is_ready_for_a_classifier_and_for_rewire(blocks, small):
    advice = dgat.advise(blocks, gammas=[0.3, 1], rewirings=["none", "add", "prune-far:q0.5"], race="off")
    assert len(advice.candidates) >= 6 and advice.candidates[0]["score"] >= advice.candidates[1]["score"]
    dgat.DGATClassifier(**advice.best, **small).fit(blocks)
    best = advice.best
    spectrum = dgat.spectrum(blocks, gamma=best["gamma"], alpha=best["alpha"])
    by_hand = dgat.rewire(blocks, spectrum, mode=best["rewire"], epsilon=best["epsilon"])
    assert np.array_equal(dgat.rewire(blocks, best).edge_attr, by_hand.edge_attr)
    assert repr(advice).startswith("Advice('blocks'") and "<table" in advice._repr_html_()
    assert advice.to_pandas().shape[0] == len(advice.candidates)
    assert "training nodes" in str(advice)
    for wrong, text in (({"rewirings": ["auto"]}, "auto"), ({"model": "gcn"}, "gcn has no directions"),
                        ({"race": "long"}, "a time such as 2h"), ({"features": "more"}, "features")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            dgat.advise(blocks, **{"race": "off", **wrong})


def test_a_race_has_the_candidates_of_the_command_line(binary, blocks):
    blocks.save("a.npz")
    flags = ["--gammas", "0.3,1", "--rewirings", "none,add,prune-far:q0.5", "--trials", "6", "--recipe", "classic", "--json"]
    theirs = json.loads(subprocess.run([binary, "advise", "a.npz", *flags], capture_output=True, check=True).stdout)
    advice = dgat.advise(
        "a.npz", gammas=[0.3, 1], rewirings=["none", "add", "prune-far:q0.5"], trials=6, recipe="classic"
    )
    assert theirs["race"]["raced"] and advice.race["trainings"] == theirs["race"]["trainings"]
    assert advice.best == theirs["best"] and advice.clear == theirs["clear"]
    for ours, raced in zip(advice.candidates, theirs["race"]["candidates"]):
        assert [ours[key] for key in ("gamma", "alpha", "rewire", "epsilon")] == list(raced[key] for key in
                ("gamma", "alpha", "rewire", "epsilon"))  # fmt: skip
        assert (ours["val"] if ours["steps"] else None) == raced["val"]
    assert advice.to_pandas()["val"].notna().any() and "validation" in str(advice)


def test_a_comparison_is_kept_and_not_repeated(blocks, small, tmp_path):
    study = dgat.compare(blocks, models=["gat", "dgat:gamma=0.1/1"], out=tmp_path / "s", **small)
    ledger = (tmp_path / "s" / "ledger.jsonl").read_text()
    again = dgat.compare(blocks, models="gat,dgat:gamma=0.1/1", out=tmp_path / "s", **small)
    assert (tmp_path / "s" / "ledger.jsonl").read_text() == ledger
    assert [r["test_mean"] for r in study.rows()] == [r["test_mean"] for r in again.rows()]
    frame = study.to_pandas()
    assert frame.shape[0] == 2 and frame["test_mean"].between(0, 100).all()
    page = dgat.report(study, tmp_path / "page.html")
    assert "<iframe" in page._repr_html_() and page.path.stat().st_size > 10000
    page.path.unlink()
    assert page._repr_html_() is None  # a notebook shows the text


def test_a_comparison_without_a_folder_writes_nothing(blocks, small, tmp_path):
    dgat.compare(blocks, models=["gcn"], **small)
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_has_the_numbers_of_the_classifier(blocks, small):
    study = dgat.compare(blocks, models=["gat"], splits=1, metric="accuracy", **small)
    test = blocks.split(0)[2]
    clf = dgat.NodeClassifier(model="gat", metric="accuracy", **small).fit(blocks)
    assert float(study.rows()[0]["test_mean"]) == pytest.approx(100 * clf.score(test, blocks.y[test]))


def test_an_ablation_has_seven_rows(blocks, small):
    assert len(dgat.ablate(blocks, rewire="add", **small).rows()) == 7


def test_a_search_gives_options_for_a_classifier(blocks, tmp_path):
    found = dgat.tune(
        blocks, search={"lr": [0.001, 0.02]}, budget=20, out=tmp_path / "t", model="gat", hidden=16, heads=2,
        layers=1, steps=8, dropout=0.0, weight_decay=0.0,
    )  # fmt: skip
    assert found.best["lr"] in (0.001, 0.02) and found.best["model"] == "gat"
    dgat.NodeClassifier(**found.best).fit(blocks)
    assert (tmp_path / "t" / "config.yaml").exists()


def test_unknown_names_are_value_errors(blocks):
    with pytest.raises(ValueError, match="nothing"):
        dgat.compare(blocks, models=["nothing"])
    with pytest.raises(ValueError, match="hiden"):
        dgat.compare(blocks, hiden=3)
    with pytest.raises(ValueError):
        dgat.reproduce("nothing")
    with pytest.raises(ValueError, match="directed"):
        dgat.compare(blocks, models=["gat"], directed=True)


def test_a_table_of_the_paper_is_made(tmp_path):
    study = dgat.reproduce("synthetic", nodes=300, datasets=["mixhop-0.1"], splits=1,
                           steps=3, hidden=16, heads=2, layers=1)  # fmt: skip
    assert study.tables and json.dumps(study.results)


def test_a_classifier_has_a_page(blocks, small, tmp_path):
    clf = dgat.DGATClassifier(**small).fit(blocks)
    text = dgat.report(clf, tmp_path / "page.html").path.read_text()
    assert "blocks" in text


def test_a_data_set_has_an_explorer(blocks, tmp_path):
    page = dgat.explore(blocks, tmp_path / "explore.html", advise=False, gamma=0.5, rewire="add")
    text = page.path.read_text()
    assert '"type":"explorer"' in text and '"rewire":"add"' in text
    with pytest.raises(ValueError, match="gamma"):
        dgat.explore(blocks, tmp_path / "wrong.html", gamma=2)


def test_plots(blocks, small):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    s = dgat.spectrum(blocks, k=2)
    assert s.plot().lines
    r = dgat.rewire(blocks, s, mode="prune-far", epsilon="q0.8")
    axes = r.plot()
    assert sum(bar.get_height() for bar in axes.patches) == blocks.graph.num_edges
    assert axes.lines[0].get_xdata()[0] == r.report["epsilon"]
    clf = dgat.DGATClassifier(**small).fit(blocks)
    assert clf.history_.plot().lines and clf.attention_(0).plot().patches
    advice = dgat.advise(blocks, gammas=[0, 0.3, 1], rewirings=["none"], race="off")
    figure, axes = matplotlib.pyplot.subplots()
    assert advice.plot(axes) is axes and axes.lines[0].get_xdata().tolist() == [0, 0.3, 1]
    figure.canvas.draw()
    assert axes.get_xlim()[0] <= 0  # gamma 0 is in the picture
    matplotlib.pyplot.close("all")
