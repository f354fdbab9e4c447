#!/usr/bin/env python3
"""Looks into a program for what makes memory errors hard to exploit.

usage: hardening.py PROGRAM

  full RELRO       the tables of addresses of functions cannot be written after the start
  PIE, no stack that can be executed, no part that can be written and executed
  stack protector, FORTIFY (checks of the C library where the size of a buffer is known)
  CET on x86-64    a shadow stack is announced, and functions begin with endbr64
"""
import platform
import re
import subprocess
import sys


def read(*options):
    return subprocess.run(["readelf", "--wide", *options], check=True, capture_output=True, text=True).stdout


def endbr_share(program):
    """The share of the functions of dgat in the symbol table that begin with endbr64."""
    sections = re.findall(r"\] (\.text) +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", read("--sections", program))
    _, address, offset = sections[0]
    shift = int(offset, 16) - int(address, 16)
    with open(program, "rb") as file:
        bytes_of = file.read()
    functions = {int(value, 16) for value in
                 re.findall(r"^ *\d+: ([0-9a-f]+) +\d+ FUNC +\w+ +\w+ +\d+ _ZN4dgat\w*$", read("--syms", program), re.M)}
    marked = sum(bytes_of[at + shift : at + shift + 4] == b"\xf3\x0f\x1e\xfa" for at in functions)
    return marked / max(1, len(functions))


def main():
    program = sys.argv[1]
    segments, dynamic, symbols = read("--segments", program), read("--dynamic", program), read("--dyn-syms", program)
    rights = re.findall(r"^ +LOAD .* ([R ][W ][E ]) 0x", segments, re.M)
    checks = {
        "relro": "GNU_RELRO" in segments,
        "all symbols are bound at the start": "BIND_NOW" in dynamic and re.search(r"FLAGS_1.*\bNOW\b", dynamic),
        "position-independent": re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "a stack that cannot be executed": re.search(r"GNU_STACK.* RW +0x", segments),
        "no part that can be written and executed": rights and "RWE" not in rights,
        "stack protector": "__stack_chk_fail" in symbols,
        "FORTIFY": re.search(r"\b__\w+_chk\b", symbols.replace("__stack_chk_fail", "")),
    }
    if platform.machine() == "x86_64":
        checks["shadow stack"] = "SHSTK" in read("--notes", program)
        # Copies that the compiler makes for one caller (.constprop, .isra) are only called by their name.
        checks["functions that begin with endbr64"] = endbr_share(program) > 0.8
    missing = [name for name, found in checks.items() if not found]
    print(f"{program}: {len(checks) - len(missing)} of {len(checks)} found" + "".join(f"\nmissing: {m}" for m in missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
