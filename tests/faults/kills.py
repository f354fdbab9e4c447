#!/usr/bin/env python3
"""Kills train, compare and tune at random moments and starts them again, until they finish.

usage: kills.py DGAT [--kills N | --seconds S] [--seed K] [--verb train,compare,tune]

Processes are killed by SIGKILL (nothing can be saved) or stopped by SIGINT, SIGTERM or SIGHUP. compare and
tune run as two processes on one folder. At the end the result must equal that of a run that was never
stopped, and no temporary file may be left. With --seconds it goes on for that long (make soak) and
compares the memory and open files of the processes of the first and the last rounds.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMON = ["--hidden", "16", "--heads", "2", "--steps", "300", "--quiet", "--threads", "1"]
VERBS = {
    "train": ["train", "data.npz", "--model", "dgat", "--layers", "1..2", "--checkpoint-every", "9", *COMMON],
    "compare": ["compare", "data.npz", "--models", "gcn,dgat,sage", "--layers", "1", *COMMON],
    "tune": ["tune", "data.npz", "--model", "gcn", "--trials", "12", "--threads", "1", "--quiet"],
}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Folder:
    def __init__(self, dgat, base, name, verb):
        self.dgat, self.base, self.path, self.verb = dgat, base, base / name, verb

    def start(self):
        arguments = [self.dgat, *VERBS[self.verb], "--out", str(self.path)]
        if self.verb == "train" and self.path.exists():
            arguments.append("--resume" if (self.path / "config.yaml").exists() else "--overwrite")
        environment = dict(os.environ, DGAT_CACHE=str(self.base / "cache"))
        return subprocess.Popen(arguments, cwd=self.base, env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def result(self):
        if self.verb == "train":
            return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.path.glob("split-*"))}
        rows = [json.loads(line) for line in (self.path / "ledger.jsonl").read_text().splitlines() if line]
        return {r["key"]: (r["best_step"], r["train"], r["val"], r["test"]) for r in rows}


def usage_of(pid):
    """Resident bytes and open files; zeros when the process has ended."""
    try:
        pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir(f"/proc/{pid}/fd"))
    except (OSError, IndexError, ValueError):
        return 0, 0


def wait(process, what):
    _, errors = process.communicate(timeout=600)
    if process.returncode not in (0, 1, 2, 130) and process.returncode >= 0:
        sys.exit(f"{what}: exit code {process.returncode}: {errors}")
    if process.returncode in (1, 2):
        sys.exit(f"{what}: {errors}")
    if process.returncode < 0 and -process.returncode not in [int(s) for s in SIGNALS]:
        sys.exit(f"{what}: ended by signal {-process.returncode}: {errors}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dgat")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--verb", default="train,compare,tune")
    options = parser.parse_args()
    dgat = os.path.abspath(options.dgat)
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    chance = random.Random(seed)
    print(f"seed {seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        subprocess.run([dgat, "generate", "csbm", "--nodes", "300", "--classes", "3", "--splits", "2", "--out",
                        "data.npz"], cwd=base, check=True, stdout=subprocess.DEVNULL)
        expected, duration = {}, {}
        verbs = options.verb.split(",")
        for verb in verbs:
            whole, begin = Folder(dgat, base, f"whole-{verb}", verb), time.monotonic()
            wait(whole.start(), verb)
            expected[verb], duration[verb] = whole.result(), time.monotonic() - begin
        kills = rounds = 0
        peaks = []
        more = lambda: (time.monotonic() - started < options.seconds) if options.seconds else kills < options.kills
        while more():
            verb = verbs[rounds % len(verbs)]
            rounds += 1
            folder = Folder(dgat, base, f"round-{verb}", verb)
            shutil.rmtree(folder.path, ignore_errors=True)
            largest = (0, 0)
            while True:
                processes = [folder.start()]
                if verb != "train":
                    processes.append(folder.start())
                if more():
                    time.sleep(chance.uniform(0, 0.7 * duration[verb]))
                    victim = chance.choice(processes)
                    largest = max(largest, usage_of(victim.pid))
                    if victim.poll() is None:
                        victim.send_signal(chance.choice(SIGNALS))
                        kills += 1
                for process in processes:
                    wait(process, verb)
                if all(p.returncode == 0 for p in processes):
                    break
            if folder.result() != expected[verb]:
                sys.exit(f"{verb}: another result after round {rounds}, seed {seed}")
            left = [str(p.relative_to(base)) for p in folder.path.rglob("*") if p.name.endswith(".tmp")]
            if left:
                sys.exit(f"{verb}: left behind: {left}, seed {seed}")
            peaks.append((verb, *largest))
        print(f"{kills} kills in {rounds} rounds of {', '.join(verbs)}: equal results, nothing left behind")
        for verb in verbs if options.seconds else []:
            mine = [p for p in peaks if p[0] == verb and p[1]]
            third = max(1, len(mine) // 3)
            first, last = mine[:third], mine[-third:]
            if not mine:
                continue
            print(f"{verb}: up to {max(p[1] for p in first) / 1e6:.0f} MB and {max(p[2] for p in first)} files at first, "
                  f"{max(p[1] for p in last) / 1e6:.0f} MB and {max(p[2] for p in last)} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
