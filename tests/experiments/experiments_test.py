#!/usr/bin/env python3
"""scripts/experiments on a small invented record in a temporary folder.

Run: python3 tests/experiments/experiments_test.py
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MANIFEST = """
checksums:
  toy.npz: {sha}
entries:
- id: toy
  question: Is dgat ahead?
  docs: [docs/results.md]
  duration: 1 min
  data: [toy.npz]
  command:
    attention: echo "$(basename $DATA)" > $OUT/made-attention
    mlp: echo mlp > $OUT/made-mlp
  search:
    rates: echo rates > $OUT/searched-rates
    graphs: echo graphs > $OUT/searched-graphs
  splits: 3
  table:
    published: {{table: small, column: toy}}
    dagger: Searched twice.
    rows:
    - {{name: gat, select: {{model: gat}}, published: {{row: gat}}}}
    - {{name: dgat, select: {{model: dgat}}, published: {{row: dgat}}, dagger: [test]}}
    - {{name: mlp, select: {{model: resnet}}}}
    columns:
    - {{title: row, show: name}}
    - {{title: test, show: test}}
    - {{title: published, show: published}}
    - {{title: σ, show: sigma}}
    - {{title: layers, show: chosen, key: layers}}
- id: facts
  question: What does the program print?
  docs: [docs/results.md]
  duration: 1 s
  command: echo
  record:
  - {{dataset: toy, command: 'echo "{{\\"edges\\": {{\\"left\\": 12345}}, \\"list\\": [1]}}"'}}
  table:
    rows: [{{name: toy, select: {{dataset: toy}}}}]
    columns:
    - {{title: graph, show: name}}
    - {{title: left, show: value, field: edges.left, format: ",d"}}
- id: times
  question: How long does it take?
  docs: [docs/results.md]
  duration: 1 s
  record:
  - command: for s in 3 1 2; do echo "{{\\"dataset\\":\\"small\\",\\"k\\":1,\\"s\\":$s}}"; echo "{{\\"dataset\\":\\"small\\",\\"k\\":8,\\"s\\":9}}"; done
    lines: true
    threads: 2
  - {{command: 'echo "{{\\"rows\\": [{{\\"name\\": \\"large\\", \\"s\\": 40}}]}}"', each: rows, named: name}}
  table:
    rows: [{{name: small, select: {{dataset: small, k: 1}}, goal: 5 s}}, {{name: large, select: {{dataset: large}}}}, {{name: mean, mean: true}}]
    columns:
    - {{title: graph, show: name}}
    - {{title: last, show: value, field: s}}
    - {{title: median, show: value, field: s, over: median}}
    - {{title: all, show: value, field: s, over: range, format: .1f}}
    - {{title: goal, show: text, key: goal}}
"""
VERSIONS = """inline constexpr int64_t kResultsVersion = 3;
inline constexpr ResultsChange kResultsChanges[] = {
    {2, ""},         // sums are grouped otherwise
    {3, "epsilon"},  // ties are broken otherwise
};
"""
DOC = "# Toy\n\n<!-- table: toy -->\n<!-- end -->\n\ntext\n\n<!-- table: facts -->\n<!-- end -->\n\n<!-- table: times -->\n<!-- end -->\n"


def trial(model, layers, split, val, test, version=2, **options):
    return {"dataset": "toy", "model": model, "layers": layers, "split": split, "val": val, "test": test, "seconds": 30.0,
            "best_step": 1, "options": options, "results_version": version, "commit": "c", "date": "2026-01-02",
            "processor": None, "instruction_set": None, "threads": 1}


class Experiments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs").mkdir()
        (self.root / "include/dgat/train").mkdir(parents=True)
        (self.root / "include/dgat/train/results_version.h").write_text(VERSIONS)
        (self.root / "data").mkdir()
        (self.root / "data/toy.npz").write_bytes(b"toy")
        (self.root / "experiments/toy").mkdir(parents=True)
        sha = hashlib.sha256(b"toy").hexdigest()
        (self.root / "experiments/manifest.yaml").write_text(MANIFEST.format(sha=sha))
        (self.root / "experiments/published.json").write_text(
            json.dumps({"small": {"gat": {"toy": [50.0]}, "dgat": {"toy": [60.0, 5.0]}}}))
        self.ledger([trial("gat", 1, split, 0.5, 0.40 + 0.1 * split, version=1) for split in range(3)]
                    # one layer is better on test, two on validation: validation chooses
                    + [trial("dgat", 1, split, 0.6, 0.9, gamma="1") for split in range(3)]
                    + [trial("dgat", 2, split, 0.7, 0.69 + 0.01 * split, gamma="0.1") for split in range(3)])
        self.doc = self.root / "docs/results.md"
        self.doc.write_text(DOC)

    def tearDown(self):
        self.folder.cleanup()

    def ledger(self, lines):
        (self.root / "experiments/toy/ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def call(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "DATA"}
        return subprocess.run([sys.executable, ROOT / "scripts/experiments", *arguments, "--root", self.root],
                              capture_output=True, text=True, env=environment)

    def expect(self, code, *arguments):
        result = self.call(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_render_shows_what_validation_chose(self):
        self.expect(0, "render")
        lines = self.doc.read_text().splitlines()
        self.assertIn("| gat | 50.00 ± 10.00 | 50.00 | 0.0 | 1 |", lines)
        self.assertIn("| dgat | 70.00 ± 1.00 † | 60.00 ± 5.00 | +2.0 | 2 |", lines)
        self.assertIn("| mlp | – |  |  | – |", lines)
        self.assertTrue(any(line.startswith("† Searched twice. Source: `experiments/toy`, 9 trials, 4 min of training; "
                                            "results version 1 and 2, 2026-01-02") for line in lines), lines)
        self.assertIn("text", lines)

    def test_lines_of_two_versions_are_not_mixed(self):
        self.ledger([trial("gat", 1, split, 0.5, 0.1, version=1) for split in range(3)]
                    + [trial("gat", 1, split, 0.5, 0.2, version=2) for split in range(2)])
        self.expect(0, "render")
        self.assertIn("| gat | 10.00 ± 0.00 |", self.doc.read_text())
        self.ledger([trial("gat", 1, split, 0.5, 0.1 * version, version=version) for version in (1, 2) for split in range(3)])
        self.expect(0, "render")
        self.assertIn("| gat | 20.00 ± 0.00 |", self.doc.read_text())

    def test_lines_that_a_version_did_not_change_go_with_its_own(self):
        self.ledger([trial("gat", 1, 0, 0.5, 0.1, version=2)]
                    + [trial("gat", 1, split, 0.5, 0.3, version=3) for split in (1, 2)]
                    + [trial("dgat", 1, split, 0.5, 0.1, version=2, epsilon="1") for split in range(2)]
                    + [trial("dgat", 1, 2, 0.5, 0.1, version=3, epsilon="1")])
        self.expect(0, "render")
        self.assertIn("| gat | 23.33 ± 11.55 |", self.doc.read_text())
        self.assertIn("| dgat | 10.00 ± 0.00 (2 of 3 splits) †", self.doc.read_text())
        status = self.expect(0, "status", "toy")
        self.assertIn("version 2 changed every training: sums are grouped otherwise", status)
        self.assertIn("old      2 lines from before version 3, which changed trainings with epsilon", status)

    def test_a_row_with_fewer_splits_says_so(self):
        self.ledger([trial("gat", 1, 0, 0.5, 0.4)])
        self.expect(0, "render")
        self.assertIn("| gat | 40.00 (1 of 3 splits) |", self.doc.read_text())

    def test_check_is_green_after_render_and_names_a_changed_digit(self):
        self.expect(0, "render")
        self.expect(0, "check")
        self.doc.write_text(self.doc.read_text().replace("70.00 ± 1.00", "71.00 ± 1.00"))
        message = self.expect(1, "check")
        self.assertIn("docs/results.md:7: table 'toy': row 'dgat', column 'test': the doc says '71.00 ± 1.00 †', "
                      "the ledger '70.00 ± 1.00 †'", message)

    def test_check_wants_an_entry_for_every_marker_and_a_marker_for_every_entry(self):
        self.expect(0, "render")
        text = self.doc.read_text()
        self.doc.write_text(text + "\n<!-- table: other -->\n<!-- end -->\n")
        self.assertIn("table 'other' has no entry", self.expect(1, "check"))
        self.doc.write_text(text.replace("<!-- table: facts -->", "<!-- table: toy -->"))
        self.assertIn("entry 'facts': docs/results.md has no line '<!-- table: facts -->'", self.expect(1, "check"))
        self.doc.write_text(text.replace("<!-- end -->", "", 1))
        self.assertIn("has no counterpart", self.expect(2, "check"))

    def test_check_finds_a_folder_without_entry(self):
        self.expect(0, "render")
        (self.root / "experiments/stray").mkdir()
        self.assertIn("experiments/stray: has no entry", self.expect(1, "check"))

    def test_status_counts_done_old_and_remaining(self):
        text = self.expect(0, "status", "toy")
        self.assertIn("results version of the sources: 3", text)
        self.assertIn("done     9 lines", text)
        self.assertIn("old      3 lines from before version 2, which changed every training", text)
        self.assertIn("remains  3 trainings, about 90 s", text.replace("2 min", "90 s"))
        self.assertIn("run toy mlp", text)

    def test_status_ends_quietly_when_its_reader_stops(self):
        command = f"{sys.executable} -u {ROOT / 'scripts/experiments'} status --root {self.root} | true"
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        self.assertEqual(result.stderr, "")

    def test_run_refuses_other_data(self):
        (self.root / "data/toy.npz").write_bytes(b"other")
        message = self.expect(2, "run", "toy", "--data", str(self.root / "data"))
        self.assertIn("toy.npz: differs from the data of the record", message)
        self.assertFalse((self.root / "experiments/toy/made-attention").exists())
        self.assertIn("--data DIR", self.expect(2, "run", "toy"))

    def test_run_runs_all_steps_or_the_one_named(self):
        self.expect(0, "run", "toy", "mlp", "--data", str(self.root / "data"))
        self.assertTrue((self.root / "experiments/toy/made-mlp").exists())
        self.assertFalse((self.root / "experiments/toy/made-attention").exists())
        self.expect(0, "run", "toy", "--data", str(self.root / "data"))
        self.assertEqual((self.root / "experiments/toy/made-attention").read_text(), "data\n")
        self.assertIn("no step 'x'; the entry has attention, mlp",
                      self.expect(2, "run", "toy", "x", "--data", str(self.root / "data")))

    def test_searches_have_steps_of_their_own(self):
        data = ["--data", str(self.root / "data")]
        self.expect(0, "run", "toy", "rates", "--search", *data)
        self.assertEqual(sorted(path.name for path in (self.root / "experiments/toy").glob("[ms]*")), ["searched-rates"])
        self.expect(0, "run", "toy", "--search", *data)
        self.assertTrue((self.root / "experiments/toy/searched-graphs").exists())
        self.assertFalse((self.root / "experiments/toy/made-mlp").exists())
        self.assertIn("no step 'mlp'; the entry has rates, graphs", self.expect(2, "run", "toy", "mlp", "--search", *data))
        self.assertIn("the entry has no searches", self.expect(2, "run", "facts", "--search"))

    def test_a_recorded_command_becomes_one_line_and_is_not_repeated(self):
        self.expect(0, "run", "facts")
        self.expect(0, "run", "facts")
        lines = (self.root / "experiments/facts/ledger.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 1)
        self.assertEqual(json.loads(lines[0])["values"], {"edges.left": 12345})
        self.assertEqual(json.loads(lines[0])["results_version"], 3)
        self.expect(0, "render")
        self.assertIn("| toy | 12,345 |", self.doc.read_text())

    def test_a_command_may_give_several_lines_and_a_cell_their_median_or_range(self):
        self.assertIn("remains  2 of 2 recorded commands: scripts/experiments run times", self.expect(0, "status", "times"))
        self.expect(0, "run", "times")
        self.assertNotIn("recorded commands", self.expect(0, "status", "times"))
        path = self.root / "experiments/times/ledger.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual([line["dataset"] for line in lines], ["small"] * 6 + ["large"])
        self.expect(0, "render")
        self.assertIn("| small | 2 | 2 | 1.0–3.0 | 5 s |\n| large | 40 | 40 | 40.0 |  |\n| mean | 21 | 21 |  |  |", self.doc.read_text())
        self.assertIn(", 2 threads", self.doc.read_text())
        other_day = dict(lines[0], date="2020-01-01", values={"k": 1, "s": 100})
        path.write_text("".join(json.dumps(line) + "\n" for line in [other_day, *lines[:6], dict(lines[1], note="by hand")]))
        self.expect(0, "render")
        self.assertIn("| small | 2 | 2 | 1.0–3.0 | 5 s |\n| large | – | – | – |  |\n| mean |  |  |  |  |", self.doc.read_text())
        self.assertNotIn("by hand", self.doc.read_text())
        path.write_text("".join(json.dumps(dict(line, note="by hand")) + "\n" for line in lines))
        self.expect(0, "render")
        self.assertIn("; by hand.", self.doc.read_text())

    def test_errors_say_where_and_what_to_do(self):
        self.assertIn("no entry 'nothing'; there are toy, facts, times", self.expect(2, "run", "nothing"))
        self.assertIn("no verb", self.expect(2))
        manifest = self.root / "experiments/manifest.yaml"
        text = manifest.read_text()
        manifest.write_text(text.replace("show: sigma", "show: sigma, shwo: x"))
        self.assertIn("entry 'toy': 'σ' has an unknown key 'shwo'", self.expect(2, "check"))
        manifest.write_text(text.replace("{model: resnet}", "{model: resnet, from: toi}"))
        self.assertIn("no entry 'toi'", self.expect(2, "check"))
        manifest.write_text(text.replace("  command: echo\n", "").replace("  record:\n  - {dataset: toy", "  search:\n  - {dataset: toy"))
        self.assertIn("entry 'facts': has neither 'command' nor 'record'", self.expect(2, "check"))
        manifest.write_text(text)
        (self.root / "experiments/toy/ledger.jsonl").write_text("{}\nnot json\n")
        self.assertIn("experiments/toy/ledger.jsonl:1: has no results_version", self.expect(2, "render"))
        self.assertIn("usage: scripts/experiments", self.expect(0, "--help"))


if __name__ == "__main__":
    unittest.main()
