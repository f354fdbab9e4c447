#!/usr/bin/env python3
"""The k first eigenpairs of every graph of a folder at several gamma: user seconds and worst residual of `dgat spectrum`.

    bench/spectra.py build/release/bin/dgat ../shared/datasets [-k 32] [--limit 3]

One run each, one thread, nothing from the cache. Lists what took longer than the limit or did not converge."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("dgat")
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("-k", type=int, default=32)
parser.add_argument("--limit", type=float, default=3.0, help="user seconds")
parser.add_argument("--timeout", type=float, default=120.0, help="wall-clock seconds after which a run is stopped")
options = parser.parse_args()

missed = runs = 0
print(f"{'graph':28} {'gamma':>5} {'user s':>8} {'solver':>10} {'worst residual':>14}")
with tempfile.TemporaryDirectory() as cache:
    for path in sorted(options.folder.glob("*.npz")):
        for gamma in ("0", "0.01", "0.1", "0.3", "1"):
            runs += 1
            command = [options.dgat, "spectrum", str(path), "--gamma", gamma, "-k", str(options.k), "--threads", "1", "--json"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout,
                                      env={**os.environ, "DGAT_CACHE": cache})
            except subprocess.TimeoutExpired:
                missed += 1
                print(f"{path.stem:28} {gamma:>5} {'stopped':>8}  <- over {options.timeout:.0f} s")
                continue
            seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            if done.returncode != 0:
                missed += 1
                print(f"{path.stem:28} {gamma:>5} {seconds:8.2f}  <- {done.stderr.strip().splitlines()[-1]}")
                continue
            found = json.loads(done.stdout)
            late = seconds > options.limit or not found["converged"]
            missed += late
            print(f"{path.stem:28} {gamma:>5} {seconds:8.2f} {found['solver']:>10} {max(found['residuals']):14.1e}"
                  f"{'  <-' if late else ''}", flush=True)
print(f"{runs} runs, {missed} missed {options.limit:g} s or did not converge")
