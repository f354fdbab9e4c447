#!/usr/bin/env python3
"""Runs the commands of a documentation page and compares what they print with what the page shows.

usage: tests/docs/run_page.py [--write] DGAT PAGE...

Commands are the lines of ```console blocks that begin with `$ `; lines that begin with `> ` continue them. Other blocks
do not run. The commands of a page run in order, in one shell and one temporary folder, with the folder of DGAT first on
PATH. The folder has a link `examples` to the repository's examples. `make demo` runs scripts/demo with DGAT, and what
follows it in its block is output, also lines that begin with `$ `.

A page fails when a command ends with an error, or when its standard output differs from the lines below it:

- A command without lines below it may print anything. Standard error (progress, notices) is not compared.
- A line `...` stands for any number of lines.
- Blanks at the end of a line and the width of columns do not matter.
- Times and memory are ignored: numbers with a unit (s, ms, min, h, MiB, MB, GB) and the columns of IGNORED below.
- Processors round differently, and few nodes are counted on a page: a training is compared on the instructions that all
  have (AVX2 where there is AVX-512). What is left: numbers with a decimal point may differ by a twentieth or by two in
  the last digit, those behind ± by a half. Integers must be equal. In the block of `make demo` numbers with a decimal
  point may differ by a quarter, those behind ± by any amount: scripts/demo itself fails where DGAT gains too little.

--write puts what was printed into the page where it differs; shorten it with `...` again where you want to.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IGNORED = ["seconds", "s/step", "time s", "MiB", "best step", "rank", "to best", "p", "p Holm", "wins", "interval"]
UNIT = re.compile(r"\b\d+(?:\.\d+)?(?=\s?(?:s|ms|min|h|m|MiB|MB|GB)\b)")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")


class Command:
    def __init__(self, text, line):
        self.text = text
        self.line = line  # number of its line in the page, from 1
        self.shown = []  # the lines below it
        self.shares = (0.25, 1.0) if text == "make demo" else (0.05, 0.5)
        self.begin = self.end = 0  # where these are in the page, from 0


def read_commands(page):
    """The commands of the page's console blocks in order."""
    commands, inside, demo = [], False, False
    lines = page.read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = line == "```console"
            demo = False
        elif inside and not demo and line.startswith("$ "):
            demo = line == "$ make demo"
            commands.append(Command(line[2:], number + 1))
            commands[-1].begin = commands[-1].end = number + 1
        elif inside and commands and line.startswith("> ") and not commands[-1].shown:
            commands[-1].text += "\n" + line[2:]
            commands[-1].begin = commands[-1].end = number + 1
        elif inside and commands:
            commands[-1].shown.append(line)
            commands[-1].end = number + 1
    return commands


def run(commands, dgat, folder):
    """Runs all commands in one shell. Yields (command, exit code, standard output, standard error) up to the first error."""
    work, results = folder / "work", folder / "results"
    for path in (work, results, folder / "cache"):
        path.mkdir()
    (work / "examples").symlink_to(ROOT / "examples")
    (work / "Makefile").write_text(f"demo:\n\t@{ROOT}/scripts/demo {dgat}\n")
    # `make test` above this one would make the inner make print the folders that it enters.
    script = ["unset MAKEFLAGS MAKELEVEL MFLAGS",
              f"export PATH={dgat.parent}:$PATH XDG_CACHE_HOME={folder}/cache DGAT_OFFLINE=1", f"cd {work}"]
    if " avx512f " in pathlib.Path("/proc/cpuinfo").read_text():
        script.append("export DGAT_SIMD=avx2 OPENBLAS_CORETYPE=Haswell")
    for number, command in enumerate(commands):
        place = results / str(number)
        script.append(f"{{ {command.text}\n}} > {place}.out 2> {place}.err < /dev/null; code=$?; echo $code > {place}.code; "
                      "[ $code = 0 ] || exit 1")
    subprocess.run(["bash", "-c", "\n".join(script)], check=False)
    for number, command in enumerate(commands):
        code = results / f"{number}.code"
        if not code.exists():
            raise SystemExit(f"the shell ended before the command in line {command.line}: {command.text}")
        yield (command, int(code.read_text()), (results / f"{number}.out").read_text(),
               (results / f"{number}.err").read_text())
        if code.read_text().strip() != "0":
            return


def without_columns(lines):
    """Cuts the ignored columns out of tables: a title line, a line of dashes, rows up to a blank line."""
    result, cut = [], None
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if set(below) == {"-"}:
            titles = [(match.start(), match.end()) for match in re.finditer(r"\S+(?: \S+)*", line)]
            cut = [(begin, end) for begin, end in titles if line[begin:end] in IGNORED]
        elif not line.strip():
            cut = None
        for begin, end in cut or []:
            if set(line) == {"-"}:
                continue
            # Values stand right-aligned below their title; a wider one begins before it. Two blanks end a column.
            start = begin
            while 0 < start < len(line) and line[max(0, start - 2):start].strip():
                start -= 1
            line = line[:start] + " " * (end - start) + line[end:]
        result.append("---" if set(line) == {"-"} else line)
    return result


def normalised(lines):
    return [" ".join(UNIT.sub("N", line).split()) for line in without_columns([line.rstrip() for line in lines])]


def near(shown, printed, share):
    """True if two numbers are equal, or have a decimal point and differ by no more than a share or by two in the last digit."""
    if "." not in shown + printed:
        return shown == printed
    a, b = float(shown), float(printed)
    last = 10.0 ** -len((shown.split("e")[0].split(".") + [""])[1])
    return abs(a - b) <= max(2.001 * last, share * max(abs(a), abs(b)))


def line_matches(shown, printed, shares):
    if shown == printed:
        return True
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    mean, deviation = shares
    return all(near(a[0], b[0], deviation if shown[:a.start()].endswith("± ") else mean)
               for a, b in zip(NUMBER.finditer(shown), NUMBER.finditer(printed)))


def difference(shown, printed, shares=(0.05, 0.5)):
    """None, or the first shown line that the output does not have where it should.

    shares: by what share of its value a number with a decimal point may differ, and one behind ±.
    """
    while printed and not printed[-1].strip():
        printed = printed[:-1]
    while shown and not shown[-1].strip():
        shown = shown[:-1]
    shown, printed = normalised(shown), normalised(printed)
    reach = {0}  # how many printed lines the shown ones so far may stand for
    for line in shown:
        if line == "...":
            reach = set(range(min(reach), len(printed) + 1))
            continue
        after = {at + 1 for at in reach if at < len(printed) and line_matches(line, printed[at], shares)}
        if not after:
            at = min(max(reach), min(reach))
            return f"the page shows '{line}', printed is '{printed[at] if at < len(printed) else '(nothing more)'}'"
        reach = after
    return None if len(printed) in reach else f"printed, but not shown: '{printed[max(reach)]}'"


def check(page, dgat, write):
    problems, lines = [], page.read_text().splitlines()
    commands = read_commands(page)
    if not commands:
        return [f"{page}: has no command in a console block"]
    changed = []
    with tempfile.TemporaryDirectory() as folder:
        for command, code, printed, errors in run(commands, dgat, pathlib.Path(folder)):
            where = f"{page}:{command.line}: $ {command.text.splitlines()[0]}"
            if code != 0:
                problems.append(f"{where}\n    ended with {code}: {(errors or printed).strip()}")
            elif command.shown and (found := difference(command.shown, printed.splitlines(), command.shares)):
                problems.append(f"{where}\n    {found}")
                changed.append((command, printed.rstrip("\n").splitlines()))
    if write and changed:
        for command, printed in reversed(changed):
            lines[command.begin:command.end] = printed
        page.write_text("\n".join(lines) + "\n")
        print(f"{page}: wrote the output of {len(changed)} commands")
        return [problem for problem in problems if "\n    ended with" in problem]
    return problems


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    problems = []
    for page in arguments[1:]:
        problems += check(pathlib.Path(page), pathlib.Path(arguments[0]).resolve(), "--write" in sys.argv)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
