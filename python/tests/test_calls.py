"""How calls behave in a Python process: signals, threads, forks, warnings, memory, NumPy's BLAS."""

import concurrent.futures
import gc
import logging
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

import dgat
from conftest import SMALL, two_blocks
from dgat import _core, _messages


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def interrupted(call, ready=None):
    """Seconds from Ctrl-C to KeyboardInterrupt. Ctrl-C comes as soon as `ready`, or after 0.3 seconds."""
    sent = []

    def send():
        if ready is None:
            time.sleep(0.3)
        while ready is not None and not ready():
            time.sleep(0.001)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    sender.join()
    return time.monotonic() - sent[0]


def test_ctrl_c_ends_a_call():
    assert interrupted(lambda: _core.wait(60)) < 30
    assert dgat.spectrum(two_blocks().graph).converged  # the flag is down again


def test_ctrl_c_ends_training_and_the_run_continues(tmp_path):
    d = two_blocks()
    options = {**SMALL, "rewire": "add", "steps": 20000, "eval_every": 1000}
    clf = dgat.DGATClassifier(out=tmp_path / "run", **options)
    checkpoints = tmp_path / "run" / "checkpoints"
    assert interrupted(lambda: clf.fit(d), ready=lambda: any(checkpoints.glob("*.safetensors"))) < 30
    assert list(checkpoints.iterdir())
    assert not hasattr(clf, "_weights_")
    continued, whole = clf.fit(d), dgat.DGATClassifier(**options).fit(d)
    assert continued.history_["step"].tolist() == whole.history_["step"].tolist()
    for name, values in whole.state_dict().items():
        assert np.array_equal(continued.state_dict()[name], values), name


def test_a_signal_handler_of_python_runs_and_need_not_end_the_call():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        _core.wait(0.4)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [1]


def _fit_long():
    dgat.DGATClassifier(**{**SMALL, "steps": 4000, "eval_every": 1000}).fit(two_blocks())


def _solve_large():
    index = np.random.default_rng(0).integers(0, 20000, size=(2, 200000))
    dgat.spectrum(dgat.Graph.from_edge_index(index), k=4)


@pytest.mark.parametrize("call", [lambda: _core.wait(0.3), _fit_long, _solve_large], ids=["wait", "fit", "spectrum"])
def test_other_threads_run_meanwhile(call):
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counted)
    call()
    after = len(counted)
    stop.set()
    thread.join()
    assert after - before > 5


def test_calls_from_several_threads_give_the_same_result():
    graphs = [two_blocks(60 + 10 * i, seed=i).graph for i in range(4)]
    one = [dgat.spectrum(g).eigenvectors for g in graphs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda g: dgat.spectrum(g).eigenvectors, graphs * 5))
    for i, vectors in enumerate(many):
        assert np.array_equal(vectors, one[i % 4])


def test_training_in_several_threads_gives_the_same_weights():
    d = two_blocks()
    fit = lambda _: dgat.DGATClassifier(**SMALL).fit(d).predict_proba()  # noqa: E731
    one = fit(0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for many in pool.map(fit, range(4)):
            assert np.array_equal(many, one)


def _work(seed):
    d = two_blocks(200, seed=seed)
    clf = dgat.NodeClassifier(model="gat", **{**SMALL, "hidden": 256, "steps": 3}).fit(d)  # with products of BLAS
    return dgat.spectrum(d).eigenvalues.tolist(), clf.predict_proba().tolist()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works():
    here = [_work(0), _work(1)]  # threads have run before the fork
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_work, [0, 1]) == here


def test_notices_are_warnings_at_the_caller(tmp_path):
    np.savez(
        tmp_path / "a.npz", edges=[[0, 1], [1, 0], [2, 2], [1, 2]], node_labels=[0, 1, 0],
        node_features=np.eye(3),
    )  # fmt: skip
    with pytest.warns(dgat.Notice) as record:
        dgat.load(tmp_path / "a.npz")
    assert "dropped" in str(record[0].message)
    assert record[0].filename == __file__


def test_a_warning_that_is_an_error_is_raised(tmp_path):
    np.savez(tmp_path / "a.npz", edges=[[0, 1], [1, 1]], node_labels=[0, 1], node_features=np.eye(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", dgat.Notice)
        with pytest.raises(dgat.Notice):
            dgat.load(tmp_path / "a.npz")


def test_notices_reach_the_log(tmp_path, caplog):
    np.savez(tmp_path / "a.npz", edges=[[0, 1], [1, 1]], node_labels=[0, 1], node_features=np.eye(2))
    logging.captureWarnings(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", dgat.Notice)
            dgat.load(tmp_path / "a.npz")
    finally:
        logging.captureWarnings(False)
    assert "dropped" in caplog.text


@pytest.mark.parametrize(
    "flags, call",
    [
        (["inspect", "nowhere.npz"], lambda: dgat.load("nowhere.npz")),
        (["inspect", "broken.npz"], lambda: dgat.load("broken.npz")),
        (["spectrum", "a.npz", "--gamma", "2"], lambda: dgat.DGATClassifier(gamma=2).fit(two_blocks())),
        (["train", "a.npz", "--recipe", "old", "--out", "r"], lambda: dgat.compare(two_blocks(), recipe="old")),
        (["rewire", "a.npz", "--rewire", "prune"], lambda: dgat.rewire(two_blocks().graph, np.zeros(80), mode="prune")),
        (["train", "a.npz", "--heads", "3", "--hidden", "16", "--out", "r"],
         lambda: dgat.DGATClassifier(heads=3, hidden=16).fit(two_blocks())),
    ],
)  # fmt: skip
def test_errors_have_the_texts_of_the_command_line(binary, tmp_path, flags, call):
    two_blocks().save("a.npz")
    (tmp_path / "broken.npz").write_bytes(b"no zip")
    done = subprocess.run([binary, *flags], capture_output=True, text=True)
    with pytest.raises(ValueError) as raised:
        call()
    assert done.returncode == 2 and str(raised.value) in done.stderr, done.stderr


def test_failures_have_their_python_types(blocks):
    with pytest.raises(ValueError):
        dgat.load("nowhere.npz")
    huge = dgat.Dataset.from_arrays(blocks.graph, blocks.x * 1e38, blocks.y).with_splits("50/25/25", splits=1)
    with pytest.raises(RuntimeError, match="finite"):
        dgat.NodeClassifier(model="gcn", **SMALL).fit(huge)


def test_progress_is_shown_where_it_is_asked_for(capsys):
    d = two_blocks()
    dgat.DGATClassifier(progress=True, **{**SMALL, "steps": 3000}).fit(d)
    assert "dgat on blocks" in capsys.readouterr().err
    dgat.DGATClassifier(**{**SMALL, "steps": 3000}).fit(d)
    assert capsys.readouterr().err == ""


def test_progress_is_lines_where_tqdm_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(_messages, "_SECONDS_BETWEEN_LINES", 0.0)
    dgat.DGATClassifier(progress=True, rewire="add", **{**SMALL, "steps": 3000}).fit(two_blocks())
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("dgat on blocks") for line in lines)


def test_numpy_keeps_its_blas():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    a = np.random.default_rng(0).normal(size=(300, 300))
    product = a @ a

    def libraries():
        return [
            (lib["filepath"], lib["num_threads"], lib.get("architecture"))
            for lib in threadpoolctl.threadpool_info()
            if lib["user_api"] == "blas" and "memfd" not in lib["filepath"]
        ]

    before = libraries()
    dgat.NodeClassifier(model="gat", **{**SMALL, "hidden": 512, "steps": 3}).fit(two_blocks(600))
    assert _core.blas()["own"] and _core.blas()["threads"] == 1
    assert libraries() == before
    assert np.array_equal(a @ a, product)


def test_openblas_in_the_package_comes_first(tmp_path, run_python):
    """The form of the package that carries OpenBLAS; DGAT_BUNDLE_OPENBLAS=1 puts the file there."""
    shutil.copytree(pathlib.Path(dgat.__file__).parent, tmp_path / "dgat")
    system = _core.blas()["file"]
    (tmp_path / "dgat" / "_libs").mkdir(exist_ok=True)
    shutil.copy(system, tmp_path / "dgat" / "_libs" / "libopenblas.so.0")
    code = (
        "import sys; sys.path[:0] = [%r, %r]\n"
        "from conftest import SMALL, two_blocks\n"
        "import dgat; from dgat import _core\n"
        "clf = dgat.NodeClassifier(model='gat', **{**SMALL, 'hidden': 512, 'steps': 3}).fit(two_blocks(600))\n"
        "print(_core.blas()['file'], clf.predict_proba()[:, 1].sum())"
    )
    here = str(pathlib.Path(__file__).parent)
    inside, total = run_python(code % (str(tmp_path), here)).split()
    assert inside == str(tmp_path / "dgat" / "_libs" / "libopenblas.so.0")
    clf = dgat.NodeClassifier(model="gat", **{**SMALL, "hidden": 512, "steps": 3}).fit(two_blocks(600))
    assert total == str(clf.predict_proba()[:, 1].sum())


def test_a_thousand_graphs_leave_nothing_behind():
    edges = np.stack([np.arange(4999), np.arange(1, 5000)])

    def cycle(times):
        for _ in range(times):
            g = dgat.Graph.from_edge_index(edges)
            d = dgat.Dataset.from_arrays(g, np.ones((5000, 4)), np.arange(5000) % 2)
            r = dgat.rewire(g, np.arange(5000.0), mode="add")
            assert r.edge_attr[0, 0] >= 0 and d.x[0, 0] == 1
        gc.collect()

    cycle(100)
    before = resident_bytes()
    cycle(1000)
    assert resident_bytes() - before < 20e6  # one cycle makes more than 1 MB


def test_the_package_keeps_no_python_objects():
    d = two_blocks()

    def cycle(times):
        for _ in range(times):
            again = pickle.loads(pickle.dumps(d))
            clf = dgat.DGATClassifier(again, rewire="none", **{**SMALL, "steps": 1}).fit(again)
            clf.predict_proba(), clf.attention_(0), dgat.spectrum(again).eigenvectors
        gc.collect()

    tracemalloc.start()
    try:
        cycle(40)  # NumPy keeps buffers of the shapes of small arrays, up to a limit
        before = tracemalloc.get_traced_memory()[0]
        cycle(20)
        assert tracemalloc.get_traced_memory()[0] - before < 20000  # the features alone have 1920 bytes
    finally:
        tracemalloc.stop()


def test_a_hundred_trainings_leave_nothing_behind():
    d = two_blocks(200)

    def cycle(times):
        for _ in range(times):
            dgat.DGATClassifier(rewire="add", **{**SMALL, "steps": 2}).fit(d).predict_proba()
        gc.collect()

    cycle(20)
    before = resident_bytes()
    cycle(100)
    assert resident_bytes() - before < 20e6
