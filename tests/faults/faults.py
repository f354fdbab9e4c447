#!/usr/bin/env python3
"""Makes calls of dgat fail one after the other: memory, writing, renaming, flushing, opening, threads.

usage: faults.py DGAT LIBRARY [--dense] [--points N] [--kind malloc,write,...] [--verb inspect,train,...]

For every verb and kind of call, the n-th call fails for n = 1, 2, 3, ... until a run makes fewer calls
than that. Without --dense, about N (12) values of n are taken of many calls. Every run must end by
itself with exit code 0, 1 or 2 and, when it failed, with one sentence on standard error; it must leave no
temporary file and no half-written one; and the same command must succeed afterwards, with the result of
a run without failures.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

KINDS = ("malloc", "write", "rename", "fsync", "open", "thread")
SIZES = ["--hidden", "8", "--heads", "2", "--layers", "1", "--steps", "4", "--checkpoint-every", "2",
         "--rewire", "add", "--threads", "2", "--quiet"]
SECONDS = 60


class Failed(Exception):
    pass


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Verb:
    """A command, and what identifies its result."""

    def __init__(self, name, arguments, result):
        self.name, self.arguments, self.result = name, arguments, result


def ledger_lines(folder):
    rows = (json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines())
    return sorted((r["key"], r["val"], r["test"], r["best_step"]) for r in rows)


VERBS = [
    Verb("inspect", ["inspect", "data.npz", "--json"], lambda out: None),
    Verb("train", ["train", "data.npz", *SIZES, "--out", "out"],
         lambda out: [digest(out / f"split-{k}.safetensors") for k in (0, 1)]),
    Verb("compare", ["compare", "data.npz", "--models", "gcn,dgat", "--splits", "1", *SIZES, "--out", "out"],
         ledger_lines),
    Verb("predict", ["predict", "run", "data.npz", "--out", "out.csv"], lambda out: digest(out.with_suffix(".csv"))),
    Verb("report", ["report", "run", "--out", "out.html"], lambda out: None),
]


class Bench:
    def __init__(self, dgat, library, folder):
        self.dgat, self.library, self.base = dgat, library, folder
        self.runs = self.failures = 0

    def call(self, folder, arguments, **faults):
        environment = dict(os.environ, DGAT_CACHE=str(folder / "cache"), **faults)
        if faults:
            environment["LD_PRELOAD"] = self.library
        return subprocess.run([self.dgat, *arguments], cwd=folder, env=environment, timeout=SECONDS,
                              capture_output=True, text=True, errors="replace")

    def fresh(self):
        folder = self.base / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(self.base / "data.npz", folder)
        shutil.copytree(self.base / "run", folder / "run")
        return folder

    def prepare(self):
        for arguments in (["generate", "csbm", "--nodes", "60", "--classes", "3", "--splits", "2", "--out", "data.npz"],
                          ["train", "data.npz", *SIZES, "--out", "run"]):
            done = self.call(self.base, arguments)
            if done.returncode != 0:
                raise Failed(f"preparing: {done.stderr}")
        # Paths in the run are those of the case.
        config = self.base / "run" / "config.yaml"
        config.write_text(config.read_text().replace(str(self.base), str(self.base / "case")))

    def check_left_over(self, folder, verb):
        left = [str(p) for p in folder.rglob("*.tmp")]
        if left:
            raise Failed(f"left behind: {left}")
        if verb.name == "train" and (folder / "out" / "summary.json").exists():
            done = self.call(folder, ["verify", "out"])
            if done.returncode != 0:
                raise Failed(f"a run that does not verify: {done.stdout}{done.stderr}")

    def one(self, verb, kind, at, persistent, expected):
        """Returns whether the failure happened."""
        folder = self.fresh()
        count = folder / "count"
        faults = {"DGAT_FAIL": kind, "DGAT_FAIL_AT": str(at), "DGAT_FAIL_COUNT": str(count)}
        if persistent:
            faults["DGAT_FAIL_LONG"] = "1"
        try:
            done = self.call(folder, verb.arguments, **faults)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not end within {SECONDS} s")
        self.runs += 1
        if done.returncode not in (0, 1, 2):
            raise Failed(f"ended with {done.returncode}: {done.stderr[-500:]}")
        if done.returncode != 0:
            self.failures += 1
            if "dgat: " not in done.stderr and not (kind == "malloc" and "out of memory" in done.stderr):
                raise Failed(f"exit code {done.returncode} without a sentence: {done.stderr[-500:]!r}")
        if not (persistent and kind in ("write", "rename")):
            self.check_left_over(folder, verb)
        if not count.exists():
            return True
        happened = int(count.read_text()) >= at
        again = list(verb.arguments)
        if verb.name == "train":
            again.append("--overwrite" if not (folder / "out" / "checkpoints").exists() else "--resume")
        done = self.call(folder, again)
        if done.returncode != 0:
            raise Failed(f"the same command afterwards: {done.stderr[-500:]}")
        self.check_left_over(folder, verb)
        if verb.result(folder / "out") != expected:
            raise Failed("the same command afterwards gives another result")
        return happened


def values_of_n(total, options):
    points = options.points
    if options.dense or total <= points:
        return range(1, total + 1)
    chosen, n = set(), 1.0
    while n <= total:
        chosen.add(int(n))
        n = n * total ** (1 / points) if n >= 2 else n + 1
    return sorted(chosen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dgat")
    parser.add_argument("library")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--points", type=int, default=12)
    parser.add_argument("--kind", default=",".join(KINDS))
    parser.add_argument("--verb", default=",".join(v.name for v in VERBS))
    options = parser.parse_args()
    defects = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.dgat), os.path.abspath(options.library), pathlib.Path(folder))
        bench.prepare()
        for verb in VERBS:
            if verb.name not in options.verb.split(","):
                continue
            case = bench.fresh()
            done = bench.call(case, verb.arguments)
            if done.returncode != 0:
                raise Failed(f"{verb.name} without a failure: {done.stderr}")
            expected = verb.result(case / "out")
            for kind in options.kind.split(","):
                case = bench.fresh()
                bench.call(case, verb.arguments, DGAT_FAIL=kind, DGAT_FAIL_COUNT=str(case / "count"))
                total = int((case / "count").read_text())
                runs, failures = bench.runs, bench.failures
                for persistent in (False, True):
                    for at in values_of_n(total, options):
                        try:
                            bench.one(verb, kind, at, persistent, expected)
                        except Failed as failure:
                            defects += 1
                            print(f"{verb.name}: {kind} {at} of {total}{' and all after it' if persistent else ''}: "
                                  f"{failure}", flush=True)
                print(f"{verb.name}: {total} calls of {kind}, {bench.runs - runs} runs with one failing, "
                      f"{bench.failures - failures} ended with an error", flush=True)
    print(f"{bench.runs} runs, {defects} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
