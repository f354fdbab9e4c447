#!/usr/bin/env python3
"""Kills train, compare and tune at random moments and starts them again, until they finish.

usage: kills.py DGAT [--kills N | --seconds S] [--seed K] [--verb train,compare,tune]

Processes are killed by SIGKILL (nothing can be saved) or stopped by SIGINT, SIGTERM or SIGHUP. compare and
tune run as two processes on one folder. At the end the result must equal that of a run that was never
stopped, and no temporary file may be left. With --seconds it goes on for that long (make soak), prints a
line every ten minutes, and fails if the processes of the last rounds took more memory, open files or room
on the disk than those of the first ones.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

COMMON = ["--hidden", "16", "--heads", "2", "--steps", "150", "--quiet", "--threads", "1"]
VERBS = {
    "train": ["train", "data.npz", "--model", "dgat", "--layers", "1..2", "--checkpoint-every", "9", *COMMON],
    "compare": ["compare", "data.npz", "--models", "gcn,dgat,sage", "--layers", "1", *COMMON],
    "tune": ["tune", "data.npz", "--model", "gcn", "--trials", "12", "--threads", "1", "--quiet"],
}
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The next kill comes within this share of the time of a whole run, so that most runs are killed more than once.
LONGEST_WAIT = 0.4
SECONDS_TO_END = 600
GROWTH = 1.25  # of memory, open files, disk: what is left behind in each of some hundred rounds would be more


STDERR = "stderr-"


class Process:
    """A run of dgat, with the largest memory that it had."""

    def __init__(self, arguments, folder, environment):
        self.errors = tempfile.NamedTemporaryFile("w+", dir=folder, prefix=STDERR, errors="replace")
        self.popen = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                      stderr=self.errors)
        self.code, self.peak = None, 0

    def ended(self):
        if self.code is None:
            pid, status, usage = os.wait4(self.popen.pid, os.WNOHANG)
            if pid != 0:
                self.code = self.popen.returncode = os.waitstatus_to_exitcode(status)
                self.peak = usage.ru_maxrss * 1024
        return self.code is not None

    def open_files(self):
        try:
            return len(os.listdir(f"/proc/{self.popen.pid}/fd"))
        except OSError:  # it has ended
            return 0

    def wait(self, what):
        waited, before = 0.0, time.monotonic()
        while not self.ended():
            if waited > SECONDS_TO_END:
                self.popen.kill()
                sys.exit(f"{what}: did not end within {SECONDS_TO_END} s")
            time.sleep(0.005)
            now = time.monotonic()
            waited += min(now - before, 1)  # a pause of this script is one of its processes, too
            before = now
        self.errors.seek(0)
        said = self.errors.read()
        self.errors.close()
        if self.code not in (0, 130, *(-int(number) for number in SIGNALS)):
            sys.exit(f"{what}: exit code {self.code}: {said}")


class Folder:
    def __init__(self, dgat, base, name, verb):
        self.dgat, self.base, self.path, self.verb = dgat, base, base / name, verb

    def start(self):
        arguments = [self.dgat, *VERBS[self.verb], "--out", str(self.path)]
        if self.verb == "train" and self.path.exists():
            arguments.append("--resume" if (self.path / "config.yaml").exists() else "--overwrite")
        environment = dict(os.environ, DGAT_CACHE=str(self.base / "cache"))
        return Process(arguments, self.base, environment)

    def size(self):
        return sum(p.lstat().st_size for p in self.base.rglob("*") if not p.name.startswith(STDERR))

    def result(self):
        if self.verb == "train":
            return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.path.glob("split-*"))}
        rows = [json.loads(line) for line in (self.path / "ledger.jsonl").read_text().splitlines() if line]
        return {r["key"]: (r["best_step"], r["train"], r["val"], r["test"]) for r in rows}


class Usage:
    """The largest memory, open files and room on the disk of every round, by verb."""

    NAMES = ("MB of memory", "open files", "kB on the disk")

    def __init__(self):
        self.rounds = {}

    def add(self, verb, memory, files, disk):
        self.rounds.setdefault(verb, []).append((memory / 1e6, files, disk / 1e3))

    def first_and_last(self, verb):
        """The medians of the first and of the last third of the rounds."""
        rounds = self.rounds[verb]
        third = max(1, len(rounds) // 3)
        middle = lambda part: [statistics.median(values) for values in zip(*part)]
        return middle(rounds[:third]), middle(rounds[-third:])

    def grown(self):
        """Prints both for every verb; returns whether one grew."""
        found = False
        for verb in self.rounds:
            first, last = self.first_and_last(verb)
            print(f"{verb}, {len(self.rounds[verb])} rounds: " +
                  ", ".join(f"{a:.0f} {name} at first, {b:.0f} at the end"
                            for name, a, b in zip(self.NAMES, first, last)))
            found |= any(b > GROWTH * a for a, b in zip(first, last))
        return found


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
            whole.start().wait(verb)
            expected[verb], duration[verb] = whole.result(), time.monotonic() - begin
        kills = rounds = told = 0
        usage = Usage()
        more = lambda: (time.monotonic() - started < options.seconds) if options.seconds else kills < options.kills
        while more():
            verb = verbs[rounds % len(verbs)]
            rounds += 1
            folder = Folder(dgat, base, f"round-{verb}", verb)
            shutil.rmtree(folder.path, ignore_errors=True)
            memory = files = 0
            while True:
                processes = [folder.start() for _ in range(1 if verb == "train" else 2)]
                if more():
                    time.sleep(chance.uniform(0, LONGEST_WAIT * duration[verb]))
                    victim = chance.choice(processes)
                    files = max(files, victim.open_files())
                    if not victim.ended():
                        victim.popen.send_signal(chance.choice(SIGNALS))
                        kills += 1
                for process in processes:
                    process.wait(verb)
                    memory = max(memory, process.peak)
                if all(p.code == 0 for p in processes):
                    break
            if folder.result() != expected[verb]:
                sys.exit(f"{verb}: another result after round {rounds}, seed {seed}")
            left = [str(p.relative_to(base)) for p in folder.path.rglob("*") if p.name.endswith(".tmp")]
            if left:
                sys.exit(f"{verb}: left behind: {left}, seed {seed}")
            usage.add(verb, memory, files, folder.size())
            if time.monotonic() - started > 600 * (told + 1):
                told += 1
                print(f"{kills} kills in {rounds} rounds after {time.monotonic() - started:.0f} s", flush=True)
        print(f"{kills} kills in {rounds} rounds of {', '.join(verbs)}: equal results, nothing left behind")
        if options.seconds and usage.grown():
            sys.exit(f"the last rounds took over {GROWTH} times as much as the first ones")
    return 0


if __name__ == "__main__":
    sys.exit(main())
