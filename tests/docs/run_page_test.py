#!/usr/bin/env python3
"""What run_page.py accepts and what it refuses, on small invented pages.

Run: python3 tests/docs/run_page_test.py
"""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run_page  # noqa: E402

TABLE = ["split  best step   test  seconds", "--------------------------------", "0             13  77.36      1.0"]


class Difference(unittest.TestCase):
    def same(self, shown, printed):
        self.assertIsNone(run_page.difference(shown, printed))

    def other(self, shown, printed, text):
        self.assertIn(text, run_page.difference(shown, printed))

    def test_equal_lines_and_blanks(self):
        self.same(["a  b", "c"], ["a b ", "c", ""])
        self.other(["a"], ["b"], "the page shows 'a', printed is 'b'")

    def test_missing_and_additional_lines(self):
        self.other(["a", "b"], ["a"], "(nothing more)")
        self.other(["a"], ["a", "b"], "printed, but not shown: 'b'")

    def test_dots_stand_for_any_lines(self):
        self.same(["a", "...", "d"], ["a", "b", "c", "d"])
        self.same(["...", "d", "..."], ["d"])
        self.other(["...", "e"], ["a", "d"], "'e'")

    def test_integers_are_compared_exactly(self):
        self.other(["900 edges"], ["901 edges"], "900")

    def test_decimals_may_differ_a_little(self):
        self.same(["test 78.11 ± 6.34 %"], ["test 77.36 ± 7.10 %"])
        self.other(["test 78.11"], ["test 70.11"], "78.11")
        self.other(["± 6.34 of 10"], ["± 1.34 of 10"], "6.34")

    def test_how_much_decimals_may_differ_can_be_chosen(self):
        self.assertIsNone(run_page.difference(["78.1 ± 6.3 in 5"], ["70.1 ± 0.0 in 5"], (0.25, 1.0)))
        self.assertIn("78.1", run_page.difference(["78.1 ± 6.3 in 5"], ["50.1 ± 6.3 in 5"], (0.25, 1.0)))
        self.assertIn("in 5", run_page.difference(["78.1 ± 6.3 in 5"], ["78.1 ± 6.3 in 6"], (0.25, 1.0)))

    def test_a_value_wider_than_its_title_is_cut_whole(self):
        wide = ["model       interval  layers", "----------------------------", "gat   -5.28 .. +0.38       2"]
        self.same(wide, wide[:2] + ["gat   -7.55 .. +0.10       2"])
        self.other(wide, wide[:2] + ["gat   -7.55 .. +0.10       3"], "2")

    def test_times_and_their_columns_are_ignored(self):
        self.same(["done in 0.03 s, 21 MiB"], ["done in 12.5 s, 30 MiB"])
        self.same(TABLE, TABLE[:2] + ["0             14  77.36     11.5"])
        self.other(TABLE, TABLE[:2] + ["0             13  70.36      1.0"], "77.36")


class Pages(unittest.TestCase):
    def check(self, text, write=False):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            problems = run_page.check(page, pathlib.Path("/bin/true"), write)
            return problems, page.read_text()

    def test_make_prints_the_same_under_another_make(self):
        text = "```console\n$ printf 'all:\\n\\t@echo made\\n' > Makefile; make all\nmade\n```\n"
        with unittest.mock.patch.dict("os.environ", {"MAKELEVEL": "1", "MAKEFLAGS": "w"}):
            self.assertEqual(self.check(text)[0], [])

    def test_commands_share_a_shell(self):
        self.assertEqual(self.check("```console\n$ x=5\n$ cat > f << E\n> $x apples\n> E\n$ cat f\n5 apples\n```\n")[0], [])

    def test_a_failing_command_is_reported(self):
        self.assertIn("ended with 3", self.check("```console\n$ (exit 3)\n```\n")[0][0])

    def test_other_blocks_do_not_run(self):
        self.assertEqual(self.check("```sh\nfalse\n```\n```console\n$ true\n```\n")[0], [])

    def test_write_replaces_what_differs(self):
        problems, text = self.check("```console\n$ echo a\nb\n$ echo c\nc\n```\n", write=True)
        self.assertEqual((problems, text), ([], "```console\n$ echo a\na\n$ echo c\nc\n```\n"))

    def test_a_page_without_commands_is_an_error(self):
        self.assertIn("no command", self.check("text\n")[0][0])


if __name__ == "__main__":
    unittest.main()
