"""Ledgers: reading them, picking the lines of one cell, choosing by validation."""

import json
import statistics

from record.manifest import RecordError, results_versions

# Keys of a selection that are no options of the network.
FIELDS = {"dataset", "model", "layers"}


class Ledgers:
    """All ledgers below experiments/, each read once. A place is ID or ID/FOLDER.

    Every line gets `equal_version`: the latest results version that gives what it says."""

    def __init__(self, root):
        self.root = root
        self.versions = results_versions(root)
        self.lines = {}

    def read(self, place):
        if place not in self.lines:
            self.lines[place] = read_ledger(self.root, f"experiments/{place}/ledger.jsonl")
            for line in self.lines[place]:
                line["equal_version"] = self.versions.equal(line)
        return self.lines[place]

    def parts(self, name):
        """Places of the ledgers that led to an entry's table: searches, choices of depth."""
        folder = self.root / "experiments" / name
        paths = sorted(folder.glob("**/ledger.jsonl"))
        return [str(path.parent.relative_to(self.root / "experiments")) for path in paths if path.parent != folder]


def read_ledger(root, name):
    path = root / name
    if not path.exists():
        return []
    lines = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise RecordError(f"{name}:{number}: not JSON ({error.msg}); remove the line, the trial runs again") from error
        if "results_version" not in line:
            raise RecordError(f"{name}:{number}: has no results_version; add the version of the program that wrote it")
        lines.append(line)
    return lines


def canonical(dataset):
    """chameleon_filtered and chameleon-filtered are one data set; so are cornell_old and the paper's cornell."""
    name = dataset.replace("_", "-")
    return "cornell" if name == "cornell-old" else name


def fits(line, selection):
    """Whether a line is meant: the fields and options named are equal; null means the option has its default."""
    for key, wanted in selection.items():
        if key == "dataset":
            found, wanted = canonical(line["dataset"]), canonical(wanted)
        elif key in FIELDS:
            found = line.get(key)
        else:
            found = line.get("options", line.get("values", {})).get(key)
        if wanted is None or found is None:
            if wanted is not found:
                return False
        elif str(found) != str(wanted):
            return False
    return True


def candidate(line):
    return line["layers"], tuple(sorted(line["options"].items()))


class Chosen:
    """The candidate that validation chose for a cell, and its lines: one per split."""

    def __init__(self, lines, considered):
        self.lines = sorted(lines, key=lambda line: line["split"])
        self.considered = considered  # every line that took part in the choice

    def mean(self, key):
        return 100 * statistics.fmean(line[key] for line in self.lines)

    def deviation(self, key):
        """Sample standard deviation over the splits, None for one split."""
        return 100 * statistics.stdev(line[key] for line in self.lines) if len(self.lines) > 1 else None


def choose(lines, choose_on=0, by="val"):
    """Candidates compete by their mean over the first choose_on splits (0: all). None without lines.

    Only lines that one results version gives: of the versions there, the one with most splits, and the later of equals."""
    if not lines:
        return None
    versions = {}
    for line in lines:
        groups = versions.setdefault(line["equal_version"], {})
        groups.setdefault(candidate(line), {})[line["split"]] = line
    groups = max(versions.items(), key=lambda item: (max(len(splits) for splits in item[1].values()), item[0]))[1]
    competing = {key: [line for split, line in splits.items() if not choose_on or split < choose_on]
                 for key, splits in groups.items()}
    complete = max(len(part) for part in competing.values())
    means = {key: statistics.fmean(line[by] for line in part) for key, part in competing.items()
             if len(part) == complete and part}
    best = max(means, key=means.get)
    return Chosen(list(groups[best].values()), [line for splits in groups.values() for line in splits.values()])


def candidates(lines):
    """How many candidates a search tried: rungs differ in steps only."""
    return len({(layers, tuple(pair for pair in options if pair[0] != "steps"))
                for layers, options in map(candidate, lines)})
