"""experiments/manifest.yaml: one entry per table of the docs."""

import dataclasses
import pathlib
import re

import yaml

KEYS = {"id", "question", "command", "search", "record", "data", "duration", "docs", "splits", "table", "old",
        "seconds_per_trial"}
NEEDED = {"id", "question", "command", "duration", "docs", "table"}


class RecordError(Exception):
    """A fault in the record, the data or the usage. The message says where, what and what to do."""


@dataclasses.dataclass
class Entry:
    """One table: what it asks, what makes it, which docs show it."""

    id: str
    question: str
    command: str
    duration: str
    docs: list
    table: dict
    folder: pathlib.Path
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
        if item["id"] in entries:
            raise RecordError(f"{where}: stands there twice; give one of them another id")
        for file in item.get("data", []):
            if file not in checksums:
                raise RecordError(f"{where}: data file '{file}' has no line under 'checksums'")
        entries[item["id"]] = Entry(folder=root / "experiments" / item["id"], **item)
    return Manifest(root, checksums, entries)


def present_version(root):
    """The results version of the sources. Lines below it are old."""
    name = "include/dgat/train/results_version.h"
    match = re.search(r"kResultsVersion\s*=\s*(\d+)", (root / name).read_text())
    if not match:
        raise RecordError(f"{name}: does not say 'kResultsVersion = N'")
    return int(match[1])
