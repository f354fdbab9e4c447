"""Graphs for the tests."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

import dgat

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A shell starts what it runs in the background with Ctrl-C ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_files_elsewhere(tmp_path, monkeypatch):
    """Files of a test stay in its folder, the spectral cache as well."""
    monkeypatch.chdir(tmp_path)


def shared(name):
    """The path of a real data set; skips where it is not on this machine."""
    for folder in (os.environ.get("DGAT_DATASETS"), ROOT.parent / "shared" / "datasets"):
        if folder and (pathlib.Path(folder) / name).exists():
            return pathlib.Path(folder) / name
    pytest.skip(f"{name}: not in $DGAT_DATASETS or ../shared/datasets")


@pytest.fixture
def texas():
    return dgat.load(shared("texas.npz"))


@pytest.fixture
def binary():
    """The command line."""
    path = pathlib.Path(os.environ.get("DGAT_BINARY", ROOT / "build" / "release" / "bin" / "dgat"))
    if not path.exists():
        pytest.skip(f"{path}: the command line is not built")
    return path


def two_blocks(nodes=80, seed=0, splits=2):
    """Two classes; edges join them more often than not; features tell a little."""
    random = np.random.default_rng(seed)
    y = np.arange(nodes) % 2
    p = np.where(y[:, None] == y[None, :], 0.03, 0.12)
    edges = np.argwhere(np.triu(random.random((nodes, nodes)) < p, 1)).T
    ring = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    x = (random.normal(size=(nodes, 6)) + y[:, None]).astype(np.float32)
    g = dgat.Graph.from_edge_index(np.hstack([edges, ring]), nodes)
    return dgat.Dataset.from_arrays(g, x, y, name="blocks").with_splits("50/25/25", splits=splits)


@pytest.fixture
def blocks():
    return two_blocks()


SMALL = {"hidden": 16, "heads": 2, "layers": 1, "steps": 15, "lr": 0.01}


@pytest.fixture
def small():
    return dict(SMALL)


@pytest.fixture
def run_python():
    """Runs a program in a process of its own and returns what it prints."""

    def run(code, **environment):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
