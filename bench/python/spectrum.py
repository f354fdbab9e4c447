#!/usr/bin/env python3
"""dgat.spectrum and DirectionalRewiring against AddLaplacianEigenvectorPE of PyTorch Geometric.

AddLaplacianEigenvectorPE(k=1) calls scipy.sparse.linalg.eigsh on the normalised Laplacian with which="SA", with
is_undirected=False eigs with which="SR". These calls are made here, because PyTorch Geometric is not in Debian. All
run on the largest component. Times are processor seconds of all threads. Residuals |Lu - lu|, |u| = 1, are computed
here, those of the rewiring from data.phi, which is float32 as in PyTorch Geometric.

usage: build/venv/bin/python bench/python/spectrum.py [--json] [--limit SECONDS] DATA.npz...

--json prints {"results": [{"dataset": "GRAPH: CALL", "seconds", "residual", "ratio" to dgat.spectrum}, ...]}; a call that
ends without a vector has the reason in place of seconds, and no residual or ratio.
"""

import argparse
import json
import multiprocessing
import queue
import time
import types
import warnings

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import dgat
from dgat.pyg import DirectionalRewiring


def laplacian(graph, alpha, gamma):
    """L(alpha, gamma)."""
    a = graph.to_scipy().astype(np.float64)
    d = np.asarray(a.sum(axis=1)).ravel()
    m = gamma * d + 1 - gamma
    return gamma * scipy.sparse.diags(m**-alpha) @ (scipy.sparse.diags(d) - a) @ scipy.sparse.diags(m ** (alpha - 1))


def residual(matrix, vector):
    """With the value that makes it smallest."""
    vector = vector.astype(np.float64) / np.linalg.norm(vector)
    image = matrix @ vector
    return np.linalg.norm(image - (vector @ image) * vector)


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def largest_component(graph):
    of_node = graph.components()
    keep = np.flatnonzero(of_node == np.bincount(of_node).argmax())
    return dgat.Graph.from_scipy(graph.to_scipy()[keep][:, keep])


def scipy_in_child(matrix, function, which, answer):
    def solve():
        values, vectors = getattr(scipy.sparse.linalg, function)(matrix, k=2, which=which)
        return np.real(vectors[:, values.real.argsort()[1]])

    try:
        seconds, vector = timed(solve)
        answer.put((seconds, residual(matrix, vector)))
    except scipy.sparse.linalg.ArpackNoConvergence:
        answer.put(("no convergence", ""))


def scipy_solves(matrix, function, which, limit):
    """Seconds, or why there are none, and the residual."""
    answer = multiprocessing.Queue()
    child = multiprocessing.Process(target=scipy_in_child, args=(matrix, function, which, answer))
    child.start()
    try:
        return answer.get(timeout=limit)
    except queue.Empty:
        return f"> {limit:g} elapsed", ""
    finally:
        child.terminate()
        child.join()


def rows_of(path, limit):
    """Every call on one graph."""
    dataset = dgat.load(path)
    graph = largest_component(dataset.graph)
    matrix = laplacian(graph, 0.5, 1).tocsr()
    data = types.SimpleNamespace(edge_index=graph.edge_index, num_nodes=graph.num_nodes)
    reference, found = timed(lambda: dgat.spectrum(graph, alpha=0.5, gamma=1))
    rewiring, rewired = timed(lambda: DirectionalRewiring(gamma=0.3, epsilon="q0.8")(data))
    measured = {
        "dgat.spectrum": (reference, residual(matrix, found.eigenvectors[:, 0])),
        "DirectionalRewiring": (rewiring, residual(laplacian(graph, 1, 0.3), rewired.phi[:, 0])),
        "SciPy eigsh": scipy_solves(matrix, "eigsh", "SA", limit),
        "SciPy eigs": scipy_solves(matrix, "eigs", "SR", limit),
    }
    for call, (seconds, error) in measured.items():
        ratio = "" if isinstance(seconds, str) else seconds / reference
        yield {"dataset": f"{dataset.name}: {call}", "seconds": seconds, "residual": error, "ratio": ratio}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--limit", type=float, default=300, help="elapsed seconds for SciPy")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", dgat.Notice)
    dgat.spectrum(dgat.Graph.from_edge_index([[0, 1], [1, 2]]))  # loads what is loaded once
    rows = [row for path in arguments.data for row in rows_of(path, arguments.limit)]
    if arguments.json:
        print(json.dumps({"results": rows}))
        return
    for row in rows:
        figures = [f"{key} {row[key]:.3g}" for key in ("seconds", "residual", "ratio")] if row["ratio"] else [row["seconds"]]
        print(f"{row['dataset']}: {', '.join(figures)}")


if __name__ == "__main__":
    main()
