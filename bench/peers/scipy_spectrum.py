#!/usr/bin/env python3
"""The first non-trivial eigenvector of L(1, gamma) by SciPy's methods, beside `dgat spectrum`.

    python3 bench/peers/scipy_spectrum.py --data ../shared/datasets --dgat build/release/bin/dgat \
        [--limit 20] [--json] [GRAPH...]

Methods: Lanczos on the smallest end (eigsh SA), shift-invert below zero (eigsh sigma, SuperLU), and
LOBPCG with the diagonal as preconditioner. All see the symmetric form gamma M^-1/2 (D - A) M^-1/2
with M = gamma D + (1 - gamma) I (D - A for gamma 0), of the largest component, and are asked for
the two smallest pairs to a tolerance of 1e-8. Every solve has a process of its own, which is ended
after `--limit` seconds. Prints seconds, residual, and SciPy's best time over dgat's (--json: an object per row).
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import tempfile
import time
import warnings

try:
    import numpy as np
    import scipy.sparse as sp
    import scipy.sparse.csgraph as csgraph
    import scipy.sparse.linalg as sla
except ImportError as error:
    raise SystemExit(f"peers: {error}; nothing to compare with")

METHODS = ("lanczos", "shift-invert", "lobpcg")
GRAPHS = ("tolokers", "minesweeper", "roman_empire_nofeatures", "actor", "squirrel")


def laplacian(path, gamma):
    data = np.load(path)
    edges = data["edges"]
    n = len(data["node_labels"])
    edges = edges[edges[:, 0] != edges[:, 1]]
    a = sp.coo_matrix((np.ones(len(edges)), edges.T), shape=(n, n)).tocsr()
    a = ((a + a.T) > 0).astype(float)
    count, part = csgraph.connected_components(a, directed=False)
    if count > 1:
        keep = np.flatnonzero(part == np.bincount(part).argmax())
        a = a[keep][:, keep]
    degree = np.asarray(a.sum(axis=1)).ravel()
    lap = sp.diags(degree) - a
    if gamma == 0:
        return lap.tocsr(), np.ones(len(degree)), degree
    mass = gamma * degree + (1 - gamma)
    root = sp.diags(mass**-0.5)
    return (gamma * root @ lap @ root).tocsr(), np.sqrt(mass), gamma * degree / mass


def solve(method, path, gamma, results):
    warnings.simplefilter("ignore")  # a solve that misses its tolerance shows in its residual
    s, null, diagonal = laplacian(path, gamma)
    null = null / np.linalg.norm(null)
    begin = time.perf_counter()
    if method == "lanczos":
        values, vectors = sla.eigsh(s, k=2, which="SA", tol=1e-8, maxiter=100000)
    elif method == "shift-invert":
        values, vectors = sla.eigsh(s.tocsc(), k=2, sigma=-1e-4, which="LM", tol=1e-8)
    else:
        rng = np.random.default_rng(0)
        values, vectors = sla.lobpcg(s, rng.standard_normal((s.shape[0], 3)), Y=null[:, None],
                                     M=sp.diags(1 / diagonal), tol=1e-8, maxiter=2000,
                                     largest=False)
    seconds = time.perf_counter() - begin
    order = np.argsort(values)
    at = order[0] if method == "lobpcg" else order[1]
    x = vectors[:, at]
    residual = np.linalg.norm(s @ x - values[at] * x) / np.linalg.norm(x)
    results.put((seconds, residual, values[at]))


def scipy_row(method, path, gamma, limit):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    child = context.Process(target=solve, args=(method, path, gamma, results))
    child.start()
    child.join(limit + 10)  # reading and building is not counted against the method
    if child.is_alive():
        child.kill()
        child.join()
        return None
    return results.get() if not results.empty() else None


def dgat_row(binary, path, gamma):
    with tempfile.TemporaryDirectory() as cache:
        text = subprocess.run(
            [binary, "spectrum", path, "--alpha", "1", "--gamma", str(gamma), "--threads", "2",
             "--json"], check=True, capture_output=True, text=True,
            env={**os.environ, "DGAT_CACHE": cache, "XDG_CACHE_HOME": cache}).stdout
    answer = json.loads(text)
    return answer["seconds"], answer["residuals"][0], answer["eigenvalues"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--dgat", required=True)
    parser.add_argument("--limit", type=float, default=20, help="seconds for one SciPy solve")
    parser.add_argument("--gamma", type=float, nargs="*", default=[0, 0.1, 1])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    options = parser.parse_args()
    if not options.json:
        print(f"{'graph':<24} {'gamma':>5} {'dgat s':>8} {'residual':>9}", end="")
        print("".join(f" {m + ' s':>14} {'residual':>9}" for m in METHODS), f"{'best/dgat':>10}")
    for name in options.graphs:
        for gamma in options.gamma:
            path = os.path.join(options.data, name + ".npz")
            seconds, residual, value = dgat_row(options.dgat, path, gamma)
            line = f"{name:<24} {gamma:>5} {seconds:>8.3f} {residual:>9.1e}"
            best = None
            record = {"dataset": name, "gamma": gamma, "dgat": seconds, "dgat_residual": residual}
            for method in METHODS:
                row = scipy_row(method, path, gamma, options.limit)
                if row is None:
                    record[method] = f"> {options.limit:g}"
                    line += f" {record[method]:>14} {'':>9}"
                    continue
                good = row[1] <= 1e-6 and abs(row[2] - value) <= 1e-6 * max(value, 1e-9) + 1e-10
                record[method] = row[0] if good else "wrong pair"
                line += f" {row[0]:>14.2f} {row[1]:>9.1e}" if good else f" {'wrong pair':>14} {row[1]:>9.1e}"
                if good and (best is None or row[0] < best):
                    best = row[0]
            if options.json:
                record |= {"peer": best, "ratio": best / seconds} if best else {}
                print(json.dumps(record), flush=True)
                continue
            print(line, f"{best / seconds:>10.1f}" if best else f"{'> ' + format(options.limit / seconds, '.0f'):>10}",
                  flush=True)


if __name__ == "__main__":
    main()
