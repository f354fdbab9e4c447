#!/usr/bin/env python3
"""What a Python process notices of dgat: the time of `import dgat`, and the time from Ctrl-C to KeyboardInterrupt.

Ctrl-C is sent at several moments of a call; the longest and the median time count. A call that ends before is started
again. The import is measured in new processes, without that of NumPy, which it needs.

usage: build/venv/bin/python bench/python/calls.py [--json] [--times N] DATA.npz

--json prints {"results": [{"dataset": what was measured, "worst": seconds, "median": seconds}, ...]}.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import warnings

import dgat


def import_seconds():
    code = "import numpy, time; t = time.perf_counter(); import dgat; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def interrupted(call, delay):
    """Seconds from Ctrl-C, `delay` seconds after the start, to KeyboardInterrupt; None if the call had ended."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer, ended = threading.Timer(delay, send), False
    timer.start()
    try:
        call()
        ended = True
        timer.cancel()
        timer.join()
        if sent:  # the signal is due
            time.sleep(0.01)
    except KeyboardInterrupt:
        return None if ended else time.perf_counter() - sent[0]
    return None


def calls_on(path):
    d = dgat.load(path)
    wide = {"hidden": 512, "layers": 2, "steps": 1000}
    return {
        "load": lambda: dgat.load(path),
        "spectrum, k = 16": lambda: dgat.spectrum(d, gamma=0.01, k=16),
        "rewire": lambda: dgat.rewire(d, dgat.spectrum(d), mode="hub"),
        "fit, hidden = 512": lambda: dgat.DGATClassifier(rewire="none", **wide).fit(d),
        "advise": lambda: dgat.advise(d, race="off"),
        "compare": lambda: dgat.compare(d, models=["gat", "gcn"], **wide),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--times", type=int, default=8)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", dgat.Notice)
    import_seconds()  # reads the files
    measured = {"import dgat": [import_seconds() for _ in range(arguments.times)]}
    for name, call in calls_on(arguments.data).items():
        start = time.perf_counter()
        interrupted(call, 3.0)
        length = min(time.perf_counter() - start, 3.0)
        delays = [length * (i + 0.5) / arguments.times for i in range(arguments.times)]
        found = [seconds for seconds in (interrupted(call, delay) for delay in delays) if seconds is not None]
        if found:
            measured["Ctrl-C during " + name] = found
    results = [{"dataset": name, "worst": max(found), "median": statistics.median(found), "times": len(found)}
               for name, found in measured.items()]
    if arguments.json:
        print(json.dumps({"results": results}))
        return
    for row in results:
        print(f"{row['dataset']}: worst {1000 * row['worst']:.0f} ms, median {1000 * row['median']:.0f} ms of {row['times']}")


if __name__ == "__main__":
    main()
