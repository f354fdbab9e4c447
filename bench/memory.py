#!/usr/bin/env python3
"""Compares what `dgat train --estimate` says with the peak memory of the training, on ten graphs.

usage: bench/memory.py DGAT DATA_FOLDER [--limit PERCENT] [CASE...]     prints one line per case
Graphs that DATA_FOLDER does not have are made by `dgat generate`; the largest one has a million nodes.
With --limit, an error above it ends with exit code 1, and a missing DATA_FOLDER with 77.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CASES = {
    "texas": ("texas", "--hidden 64 --layers 2"),
    "chameleon_filtered": ("chameleon_filtered", "--hidden 256 --layers 3"),
    "squirrel_filtered": ("squirrel_filtered", "--hidden 512 --layers 2"),
    "cora-classic": ("cora", "--recipe classic"),
    "minesweeper": ("minesweeper", "--hidden 512 --layers 2"),
    "tolokers": ("tolokers", "--hidden 128 --layers 2 --model gatv2"),
    "pubmed-deep": ("pubmed", "--recipe deep --hidden 128 --model gcn"),
    "csbm-1e5": ("csbm --nodes 100000 --classes 5 --degree 10 --features 64 --splits 1",
                 "--hidden 64 --layers 3 --rewire none"),
    "csbm-3e5": ("csbm --nodes 300000 --classes 5 --degree 10 --features 32 --splits 1",
                 "--hidden 64 --layers 2 --model gt --rewire none"),
    "csbm-1e6": ("csbm --nodes 1000000 --classes 5 --degree 10 --features 64 --splits 1",
                 "--hidden 64 --layers 2 --rewire none"),
}


def main():
    arguments, limit = sys.argv[1:], None
    if "--limit" in arguments:
        at = arguments.index("--limit")
        limit = float(arguments[at + 1])
        del arguments[at : at + 2]
    dgat, data, *names = arguments
    dgat, data = os.path.abspath(dgat), pathlib.Path(data)
    if limit is not None and not data.is_dir():
        print(f"skipped: there is no folder {data}")
        return 77
    worst = 0.0
    print(f"{'case':20} {'estimate MB':>12} {'peak MB':>10} {'error %':>8}")
    for name in names or CASES:
        graph, options = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            call = lambda *a: subprocess.run([dgat, *a], cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout
            path = data.resolve() / f"{graph}.npz"
            if " " in graph:
                path = pathlib.Path(folder) / "graph.npz"
                call("generate", *graph.split(), "--out", str(path))
            training = ["train", str(path), *options.split(), "--steps", "3", "--splits", "1", "--quiet", "--json"]
            estimate = json.loads(call(*training, "--estimate"))["peak_bytes"]
            peak = json.loads(call(*training, "--out", "run"))["peak_rss_bytes"]
            error = 100 * (estimate / peak - 1)
            worst = max(worst, abs(error))
            print(f"{name:20} {estimate / 1e6:12.0f} {peak / 1e6:10.0f} {error:8.1f}", flush=True)
    print(f"largest error {worst:.1f}%")
    return 1 if limit is not None and worst > limit else 0


if __name__ == "__main__":
    sys.exit(main())
