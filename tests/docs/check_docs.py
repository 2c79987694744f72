#!/usr/bin/env python3
"""Checks scripts/check-docs, scripts/check-site and scripts/book-pages: what they must find, and what they must leave alone.

    tests/docs/check_docs.py

Needs git and no braid.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SUMMARY = "# Summary\n\n[One](one.md)\n[Two](two.md)\n"


class CheckDocs(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run(["git", "init", "--quiet", self.top], check=True)
        (self.top / "scripts").mkdir()
        (self.top / "docs").mkdir()
        for name in ("check-docs", "docs-sandbox"):
            shutil.copy(SCRIPTS / name, self.top / "scripts" / name)
        self.write(SUMMARY=SUMMARY, one="# One\n", two="# Two\n\n## Sub title\n")

    def write(self, **pages):
        for name, text in pages.items():
            (self.top / "docs" / f"{name}.md").write_text(text)

    def check(self, *arguments):
        done = subprocess.run([self.top / "scripts/check-docs", *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def complains(self, words):
        status, said = self.check()
        self.assertEqual(status, 1)
        self.assertIn(words, said)

    def test_a_page_in_the_place_of_the_command_is_an_error(self):
        status, said = self.check("docs/one.md")
        self.assertEqual(status, 1)
        self.assertIn("docs/one.md is no command", said)

    def test_links_to_pages_and_headings_that_exist_pass(self):
        self.write(one="# One\n[two](two.md), [sub](two.md#sub-title), [itself](#one), [web](https://example.org/x#y)\n")
        self.assertEqual(self.check(), (0, ""))

    def test_a_link_to_a_page_that_does_not_exist_is_named_with_its_line(self):
        self.write(one="# One\n\n[three](three.md)\n")
        self.complains("docs/one.md:3: no file three.md")

    def test_a_link_to_a_heading_that_does_not_exist_is_named(self):
        self.write(one="# One\n[sub](two.md#sub)\n")
        self.complains("docs/one.md:2: docs/two.md has no heading #sub")

    def test_the_second_of_two_equal_headings_has_a_number(self):
        self.write(two="# Two\n## Same\n## Same\n", one="# One\n[same](two.md#same-1)\n")
        self.assertEqual(self.check(), (0, ""))

    def test_links_in_code_are_not_links(self):
        self.write(one="# One\n`[x](nothing.md)`\n\n```\n[x](nothing.md)\n# no heading\n```\n")
        self.assertEqual(self.check(), (0, ""))

    def test_a_page_that_the_summary_lacks_is_named(self):
        self.write(three="# Three\n")
        self.complains("lists docs/three.md 0 times")

    def test_a_page_without_a_heading_is_named(self):
        self.write(two="Text.\n")
        self.complains("docs/two.md: no heading")

    def test_a_step_of_ci_that_the_table_lacks_is_named(self):
        (self.top / ".ci").mkdir()
        (self.top / ".ci/run").write_text("step lint make lint\nstep 'all of it' x\n")
        (self.top / "CONTRIBUTING.md").write_text("# C\n\n| step | command |\n|---|---|\n| lint | x |\n")
        self.complains("where .ci/run has the step all of it, the table has nothing")
        (self.top / "CONTRIBUTING.md").write_text("# C\n\n| step | command |\n|---|---|\n| lint | x |\n| all of it | x |\n")
        self.assertEqual(self.check(), (0, ""))

    def test_a_block_that_fails_is_named_with_its_line(self):
        self.write(one="# One\n\n```sh test\nx=1\n```\n\n```sh test\n[ $x = 2 ]\n```\n")
        status, said = self.check("/bin/true", "docs/one.md")
        self.assertEqual(status, 1)
        self.assertIn("failed: docs/one.md:7", said)

    def test_blocks_of_a_page_share_a_shell_and_find_braid(self):
        self.write(one="# One\n\n```sh test\nx=1\n```\n\n```sh test\n[ $x = 1 ]; braid\n```\n\n```sh\nfalse\n```\n")
        self.assertEqual(self.check("/bin/true", "docs/one.md")[0], 0)


class CheckSite(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, **pages):
        for name, text in pages.items():
            (self.top / f"{name}.html").write_text(text)
        done = subprocess.run([SCRIPTS / "check-site", self.top], capture_output=True, text=True)
        return done.returncode, done.stderr.strip()

    def test_links_into_the_site_and_out_of_it_pass(self):
        other = '<a href="index.html#x">1</a> <a href="#y" id="y">2</a> <a href="https://example.org/">3</a>'
        self.assertEqual(self.check(index='<h1 id="x">X</h1><a href="other.html">o</a>', other=other), (0, ""))

    def test_a_file_that_is_missing_is_named_with_its_line(self):
        self.assertEqual(self.check(index='<p>\n<img src="a.png">'), (1, "index.html:2: a.png: there is no such file"))

    def test_a_heading_that_is_missing_is_named(self):
        self.assertEqual(self.check(index='<a href="#x">x</a>'), (1, "index.html:1: #x: there is no such heading"))

    def test_a_file_outside_the_site_is_none_of_it(self):
        self.assertEqual(self.check(index='<a href="../x">x</a>')[0], 1)

    def test_a_folder_without_a_site_is_a_problem(self):
        self.assertEqual(self.check()[0], 1)


class BookPages(unittest.TestCase):
    def rewritten(self, text, url=None, source="one.md"):
        html = {"git-repository-url": url} if url else {}
        other = [{"Chapter": {"source_path": path, "path": path, "content": "", "sub_items": []}} for path in ("two.md", "../PAGE.md")]
        own = {"Chapter": {"source_path": source, "path": source, "content": text, "sub_items": other}}
        given = json.dumps([{"config": {"output": {"html": html}}}, {"items": [own]}])
        done = subprocess.run([SCRIPTS / "book-pages"], input=given, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["items"][0]["Chapter"]["content"]

    def test_pages_outside_the_folder_are_in_the_book(self):
        self.assertEqual(self.rewritten("[p](../PAGE.md#x)"), "[p](project/page.md#x)")

    def test_links_of_a_page_outside_lead_into_the_book(self):
        self.assertEqual(self.rewritten("`a` [t](docs/two.md)", source="../OTHER.md"), "`a` [t](../two.md)")

    def test_links_to_files_lead_to_the_repository_or_become_text(self):
        self.assertEqual(self.rewritten("[s](../scenarios/a.yaml)"), "s")
        self.assertEqual(self.rewritten("[s](../a.yaml)", "https://example.org/b"), "[s](https://example.org/b/blob/main/a.yaml)")

    def test_code_stays_as_it_is(self):
        text = "`[x](../a)`\n```\n[x](../a)\n```"
        self.assertEqual(self.rewritten(text), text)


if __name__ == "__main__":
    sys.exit(unittest.main())
