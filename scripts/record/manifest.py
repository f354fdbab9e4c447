"""experiments/manifest.yaml: one entry per table of the docs."""

import dataclasses
import pathlib
import re

import yaml

KEYS = {"id", "question", "command", "search", "record", "data", "duration", "docs", "splits", "table", "old",
        "seconds_per_trial"}
NEEDED = {"id", "question", "duration", "docs", "table"}


class RecordError(Exception):
    """A fault in the record, the data or the usage. The message says where, what and what to do."""


@dataclasses.dataclass
class Entry:
    """One table: what it asks, what makes it, which docs show it."""

    id: str
    question: str
    duration: str
    docs: list
    table: dict
    folder: pathlib.Path
    command: str = ""
    data: list = dataclasses.field(default_factory=list)
    search: str = ""
    record: list = dataclasses.field(default_factory=list)
    splits: int = 0
    old: str = ""
    seconds_per_trial: float = 0.0


@dataclasses.dataclass
class Manifest:
    root: pathlib.Path
    checksums: dict
    entries: dict

    def entry(self, name):
        if name not in self.entries:
            raise RecordError(f"experiments/manifest.yaml: no entry '{name}'; there are {', '.join(self.entries)}")
        return self.entries[name]


def read_manifest(root):
    """Reads ROOT/experiments/manifest.yaml. Throws RecordError where it is not complete."""
    path = root / "experiments" / "manifest.yaml"
    name = path.relative_to(root)
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise RecordError(f"{name}: cannot be read ({error.strerror}); run from a checkout of dgat") from error
    except yaml.YAMLError as error:
        raise RecordError(f"{name}: not YAML: {' '.join(str(error).split())}") from error
    checksums = content.get("checksums") or {}
    entries = {}
    for item in content.get("entries") or []:
        where = f"{name}: entry '{item.get('id', '?')}'"
        for key in sorted(NEEDED - item.keys()):
            raise RecordError(f"{where}: has no '{key}'; every entry needs {', '.join(sorted(NEEDED))}")
        for key in sorted(item.keys() - KEYS):
            raise RecordError(f"{where}: unknown key '{key}'; known are {', '.join(sorted(KEYS))}")
        if not item.get("command") and not item.get("record"):
            raise RecordError(f"{where}: has neither 'command' nor 'record'; say what makes its table")
        if item["id"] in entries:
            raise RecordError(f"{where}: stands there twice; give one of them another id")
        for file in item.get("data", []):
            if file not in checksums:
                raise RecordError(f"{where}: data file '{file}' has no line under 'checksums'")
        entries[item["id"]] = Entry(folder=root / "experiments" / item["id"], **item)
    return Manifest(root, checksums, entries)


@dataclasses.dataclass
class ResultsVersions:
    """What the sources say of the results version: the present one, and what each one changed."""

    present: int
    changes: list  # (version, option or "" for every training, why)

    def equal(self, line):
        """The latest version with the results of a ledger line. Below the present one: the line is old."""
        for version, option, _ in self.changes:
            if version > line["results_version"] and (not option or option in line.get("options", {})):
                return version - 1
        return self.present

    def describe(self, version):
        options = [option for changed, option, _ in self.changes if changed == version]
        return "every training" if "" in options else f"trainings with {', '.join(options)}"


def results_versions(root):
    name = "include/dgat/train/results_version.h"
    text = (root / name).read_text()
    match = re.search(r"kResultsVersion\s*=\s*(\d+)", text)
    changes = re.findall(r'^ *\{(\d+), "(\w*)"\},\s*//\s*(.*)$', text, re.MULTILINE)
    if not match:
        raise RecordError(f"{name}: does not say 'kResultsVersion = N'")
    return ResultsVersions(int(match[1]), sorted((int(version), option, why) for version, option, why in changes))
