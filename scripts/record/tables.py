"""Tables: a cell is a selection of ledger lines and a way to show what validation chose among them.

Rows and columns of a table each carry `select`; a cell merges those of table, row, column and, last, what the row
lists for that column under `cells`. `from` names the ledger (default: the entry's own). `show` of a column:

  name        the row's name                    text        the row's own value of `key`
  test        mean ± sample deviation           validation  mean validation metric
  published   the paper's value                 sigma       test minus published, in published deviations
  difference  test minus that of row `to`       chosen      `key` of the winner (layers or an option; `default`)
  steps       range of the best steps           edges       edges left of those before
  candidates  how many a search tried           winner      the winner's options in words
  value       `field` of a recorded line        (`format`, `scale`; `over`: median, least, most or range of the lines)

`also: sigma` or `also: published` adds that in brackets. `each: [A, B]` repeats a row or column with {} replaced. A row
may have `dagger` and `skip` (titles of columns), `mean: true` (means of the rows above), `budget` (trainings of each search),
`goal` and `peer` (words for columns of text) and `trainings` (how many a cell without any needs, where that is not the
number of splits). Of recorded lines, those of the last run count: the commit and
date of the last line.
"""

import json
import statistics

from record.ledger import candidates, canonical, choose, fits
from record.manifest import RecordError

NOTHING = "–"
COLUMN_KEYS = {"title", "show", "select", "published", "also", "also_format", "key", "default", "to", "field", "format",
               "scale", "over", "bare", "short", "left", "no_mean"}
ROW_KEYS = {"name", "select", "published", "cells", "dagger", "skip", "mean", "trainings", "budget", "goal", "peer"}
OVER = {"median": statistics.median, "least": min, "most": max}
TRAINED = {"test", "validation", "chosen", "steps", "edges", "winner", "difference", "sigma"}


class Cell:
    def __init__(self, text, number=None, lines=(), missing=0, selection=None):
        self.text = text
        self.number = number
        self.lines = lines
        self.missing = missing  # trainings that the cell still needs
        self.selection = selection  # whose they are


def expand(items):
    """Rows or columns with `each` become one per value."""
    result = []
    for item in items:
        for value in item.get("each", [None]):
            copy = {key: part for key, part in item.items() if key != "each"}
            text = json.dumps(copy, ensure_ascii=False)
            result.append(copy if value is None else json.loads(text.replace("{}", str(value))))
    return result


def signed(value, digits):
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


class Table:
    """One entry's table, made from ledgers and published.json alone."""

    def __init__(self, manifest, entry, ledgers, published):
        self.manifest = manifest
        self.entry = entry
        self.ledgers = ledgers
        self.published = published
        self.columns = expand(entry.table["columns"])
        self.rows = expand(entry.table["rows"])
        for known, parts in ((COLUMN_KEYS, self.columns), (ROW_KEYS, self.rows)):
            for part in parts:
                for key in part.keys() - known:
                    raise RecordError(f"experiments/manifest.yaml: entry '{entry.id}': '{part.get('title', part.get('name'))}' "
                                      f"has an unknown key '{key}'; known are {', '.join(sorted(known))}")
        self.cells = [[self.cell(row, column) for column in self.columns] for row in self.rows]

    def merged(self, key, row, column):
        own = row.get("cells", {}).get(column["title"], {}) if key == "select" else {}
        return {**self.entry.table.get(key, {}), **row.get(key, {}), **column.get(key, {}), **own}

    def lines(self, row, column):
        """The lines of a cell and how its candidates compete."""
        selection = self.merged("select", row, column)
        place = selection.pop("from", self.entry.id)
        self.manifest.entry(place.split("/")[0])
        rule = {"choose_on": selection.pop("choose_on", 0), "by": selection.pop("choose_by", "val")}
        splits = selection.pop("splits", self.entry.splits)
        found = [line for line in self.ledgers.read(place) if fits(line, selection)]
        return found, rule, splits, selection

    def chosen(self, row, column):
        found, rule, splits, selection = self.lines(row, column)
        return choose(found, **rule), splits, selection

    def paper(self, row, column):
        place = self.merged("published", row, column)
        try:
            return self.published[place["table"]][place["row"]][canonical(place["column"])]
        except KeyError:
            return None

    def cell(self, row, column):
        show = column["show"]
        if show == "name":
            return Cell(row["name"])
        if show == "text":
            return Cell(str(row.get(column["key"], "")))
        if row.get("mean") or (row.get("skip") and column["title"] in row["skip"]):
            return Cell("")
        if show == "published":
            value = self.paper(row, column)
            return Cell("" if value is None else paper_text(value))
        if show == "value":
            return self.value(row, column)
        if show == "candidates":
            found = self.lines(row, column)[0]
            return Cell(str(candidates(found)) if found else NOTHING)
        if show not in TRAINED:
            raise RecordError(f"experiments/manifest.yaml: entry '{self.entry.id}': column '{column['title']}': "
                              f"unknown show '{show}'; see scripts/record/tables.py")
        best, splits, selection = self.chosen(row, column)
        own = self.merged("select", row, column).get("from", self.entry.id).split("/")[0] == self.entry.id
        if best is None:
            paperless = show == "sigma" and not self.paper(row, column)
            return Cell("" if paperless else NOTHING, missing=row.get("trainings", splits) if own else 0, selection=selection)
        text, number = self.trained(show, best, row, column)
        lacking = max(0, splits - len(best.lines))
        if lacking and show == "test":
            text += f" ({len(best.lines)} of {splits} splits)"
        missing = max(lacking, row.get("trainings", 0) - len(best.considered)) if lacking else 0
        return Cell(text, number, best.considered, missing if own else 0, selection)

    def trained(self, show, best, row, column):
        if show == "validation":
            return f"{best.mean('val'):.2f}", best.mean("val")
        if show == "steps":
            steps = [line["best_step"] for line in best.lines]
            return f"{min(steps)} to {max(steps)}" if len(steps) > 1 else str(steps[0]), None
        if show == "edges":
            return edges_text(best), None
        if show == "winner":
            return winner_text(best.lines[0]), None
        if show == "chosen":
            key = column["key"]
            line = best.lines[0]
            value = line[key] if key in line else line["options"].get(key, column.get("default", ""))
            paper = self.paper(row, column) if column.get("also") == "published" else None
            return str(value) + (f" ({paper[0]})" if paper else ""), None
        mean = best.mean("test")
        if show == "difference":
            if row["name"] == column["to"]:
                return "", None
            other = next(item for item in self.rows if item["name"] == column["to"])
            reference = self.chosen(other, column)[0]
            return (signed(mean - reference.mean("test"), 2) if reference else NOTHING), None
        paper = self.paper(row, column)
        deviation = best.deviation("test")
        sigma = None
        if paper and (paper[1:] or deviation):
            sigma = signed((mean - paper[0]) / (paper[1] if paper[1:] else deviation), 1)
        if show == "sigma":
            return sigma or "", None
        text = f"{mean:.2f}" + (f" ± {deviation:.2f}" if deviation is not None and not column.get("short") else "")
        if column.get("also") == "sigma" and sigma:
            text += f" ({sigma})"
        if column.get("also") == "published" and paper:
            text += f" ({paper[0]:.2f})"
        return text, mean

    def value(self, row, column):
        found = [line for line in self.lines(row, column)[0] if line["values"].get(column["field"]) is not None]
        if not found:
            return Cell(NOTHING)
        last = max(enumerate(found), key=lambda item: (item[1]["equal_version"], item[0]))[1]
        value = last["values"][column["field"]]
        if isinstance(value, str):
            return Cell(value, lines=[last])
        scale, form, over = column.get("scale", 1), column.get("format", "g"), column.get("over")
        if over:
            run = [line for line in found if (line["commit"], line["date"]) == (last["commit"], last["date"])]
            numbers = [line["values"][column["field"]] * scale for line in run]
            if over == "range":
                return Cell("–".join(dict.fromkeys(format(end, form) for end in (min(numbers), max(numbers)))), lines=run)
            return Cell(format(OVER[over](numbers), form), OVER[over](numbers), run)
        number = value * scale
        paper = self.paper(row, column)
        text = format(number, form) + (f" ({format(paper[0], column['also_format'])})" if paper else "")
        return Cell(text.replace("0.", ".") if column.get("bare") else text, number, [last])

    def markdown(self):
        """The table and the line below it: what a dagger means and what the numbers come from."""
        texts = [[cell.text for cell in row] for row in self.cells]
        for index, row in enumerate(self.rows):
            if row.get("mean"):
                for place, column in enumerate(self.columns):
                    numbers = [other[place].number for other in self.cells if other[place].number is not None]
                    complete = all(other[place].text != NOTHING for other in self.cells)
                    if numbers and complete and not column.get("no_mean"):
                        texts[index][place] = format(statistics.fmean(numbers), column.get("format", "g"))
            if self.entry.table.get("bold") == "best":
                numbers = [cell.number for cell in self.cells[index] if cell.number is not None]
                for place, cell in enumerate(self.cells[index]):
                    if cell.number is not None and cell.number == max(numbers):
                        texts[index][place] = f"**{texts[index][place]}**"
            for place, column in enumerate(self.columns):
                if column["title"] in row.get("dagger", []) and texts[index][place] != NOTHING:
                    texts[index][place] += " †"
        titles = [column["title"] for column in self.columns]
        aligned = ["---" if column["show"] in ("name", "winner") or column.get("left") else "--:"
                   for column in self.columns]
        lines = ["| " + " | ".join(titles) + " |", "|" + "|".join(aligned) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in texts]
        dagger = f"† {self.entry.table['dagger']} " if "dagger" in self.entry.table else ""
        return lines + ["", dagger + self.source()]

    def source(self):
        """What the numbers come from: ledger, trials, time, version, dates."""
        used = {id(line): line for row in self.cells for cell in row for line in cell.lines}.values()
        trials = [line for line in used if "split" in line]
        name = self.entry.id
        places = dict.fromkeys(self.merged("select", row, column).get("from", name).split("/")[0]
                               for row in self.rows for column in self.columns if column["show"] in TRAINED | {"value"})
        text = "Source: " + ", ".join(f"`experiments/{place}`" for place in places)
        if trials:
            text += f", {len(trials)} trials, {duration(sum(line['seconds'] for line in trials))} of training"
        shown = set(map(id, trials))
        parts = [line for place in self.ledgers.parts(name) for line in self.ledgers.read(place) if id(line) not in shown]
        if parts:
            text += f"; searches and choices of depth: {len(parts)} more trials, {duration(sum(line['seconds'] for line in parts))}"
        machines = dict.fromkeys(machine(line) for line in used if "values" in line and line["processor"])
        if machines:
            text += "; " + " and ".join(machines)
        if used:
            versions = sorted({line["results_version"] for line in used})
            dates = sorted({line["date"] for line in used})
            text += f"; results version {' and '.join(map(str, versions))}, {dates[0]}"
            text += f" to {dates[-1]}" if len(dates) > 1 else ""
        text += "".join(dict.fromkeys(f"; {line['note']}" for line in used if "note" in line))
        if self.entry.old:
            text += f"; old: {self.entry.old}"
        return text + "." + (" –: not run yet." if any(cell.text == NOTHING for row in self.cells for cell in row) else "")


def machine(line):
    instructions = f" ({line['instruction_set']})" if line["instruction_set"] else ""
    threads = f", {line['threads']} thread{'s' if line['threads'] > 1 else ''}" if line["threads"] else ""
    return line["processor"] + instructions + threads


def paper_text(value):
    return f"{value[0]:.2f}" + (f" ± {value[1]:.2f}" if value[1:] else "")


def edges_text(best):
    rewired = [line["rewiring"] for line in best.lines if line.get("rewiring")]
    if not rewired:
        return "all"
    after = sorted({part["edges_after"] for part in rewired})
    return f"{after[0]:,}" + (f"–{after[-1]:,}" if len(after) > 1 else "") + f" of {rewired[0]['edges_before']:,}"


def winner_text(line):
    options = line["options"]
    words = []
    if options.get("directional") != "off" and options.get("laplacian") != "default":
        words = [f"α {options.get('alpha', '1')}", f"γ {options.get('gamma', '0.3')}"]
    rewire = options.get("rewire", "auto")
    if rewire != "none" or words:
        words.append(rewire + (f" {options['epsilon']}" if rewire.startswith("prune") and "epsilon" in options else ""))
    words.append(f"{line['layers']} × {options.get('hidden', '512')}")
    words.append(f"lr {options.get('lr', '3e-05')}")
    return ", ".join(words)


def duration(seconds):
    """2 h 17 min, 13 min, 45 s."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
