#!/usr/bin/env python3
"""Checks benches/against: which commit the short comparison takes, and what it says where there is none.

    tests/bench/against.py

Needs git; builds and measures nothing.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from unittest import mock

BENCHES = Path(__file__).resolve().parents[2] / "benches"


def loaded():
    """The script as a module; its name has no .py."""
    sys.path.insert(0, str(BENCHES))
    sys.dont_write_bytecode = True
    loader = SourceFileLoader("against", str(BENCHES / "against"))
    module = module_from_spec(spec_from_loader("against", loader))
    loader.exec_module(module)
    return module


AGAINST = loaded()
NO_BUILD = subprocess.CalledProcessError(101, ["cargo"])


class Before(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.git("init", "--quiet")
        for name in ("core/paths/src", "docs"):
            (self.top / name).mkdir(parents=True)
        self.commit("core/paths/src/lib.rs")
        self.this = AGAINST.Tree("this", self.top, self.top / "target")
        self.this.crates = ["core/paths"]

    def git(self, *command, top=None):
        named = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *named, *command], cwd=top or self.top, check=True, capture_output=True)

    def commit(self, name):
        with (self.top / name).open("a") as file:
            file.write("x\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)

    def before(self, *results, top=None):
        """What is compared with if these are the results of builds, what was said, and which commits were built."""
        said = io.StringIO()
        with (
            mock.patch.object(AGAINST, "TOP", top or self.top),
            mock.patch.object(AGAINST, "built", side_effect=results) as built,
            contextlib.redirect_stdout(said),
        ):
            other = AGAINST.built_before(self.this, ["paths"])
        return other, said.getvalue(), [call.args[0] for call in built.call_args_list]

    def test_the_first_commit_has_none_before_it(self):
        self.assertEqual(self.before(), (None, "This clone has no HEAD~1: nothing to compare with.\n", []))

    def test_a_shallow_clone_says_that_it_has_no_other_commit(self):
        self.commit("core/paths/src/lib.rs")
        self.git("clone", "--quiet", "--depth", "1", self.top.as_uri(), "shallow")
        other, said, built = self.before(top=self.top / "shallow")
        self.assertEqual((other, built), (None, []))
        self.assertIn("has no HEAD~1", said)

    def test_a_commit_with_the_same_sources_is_not_built(self):
        self.commit("docs/page.md")
        other, said, built = self.before()
        self.assertEqual((other, built), (None, []))
        self.assertIn("HEAD~1 has the same core/paths", said)

    def test_a_commit_with_other_sources_is_built(self):
        self.commit("core/paths/src/lib.rs")
        self.assertEqual(self.before("tree"), ("tree", "", ["HEAD~1"]))

    def test_of_commits_that_do_not_build_the_one_before_is_taken(self):
        self.commit("core/paths/src/lib.rs")
        self.commit("core/paths/src/lib.rs")
        other, said, built = self.before(NO_BUILD, "tree")
        self.assertEqual((other, built), ("tree", ["HEAD~1", "HEAD~2"]))
        self.assertIn("HEAD~1 do not build", said)


class Smoke(unittest.TestCase):
    def smoke(self, other, failing):
        """Who was measured alone."""
        this = mock.Mock(programs={"paths": "this-paths"})
        error = subprocess.CalledProcessError(1, [failing])
        with (
            mock.patch.object(AGAINST, "Tree", return_value=this),
            mock.patch.object(AGAINST, "built_before", return_value=other),
            mock.patch.object(AGAINST, "compare", side_effect=error),
            mock.patch.object(AGAINST, "show_alone") as alone,
            contextlib.redirect_stdout(io.StringIO()),
        ):
            AGAINST.smoke(None)
        return [call.args[0] for call in alone.call_args_list], this

    def test_without_another_commit_this_tree_runs_alone(self):
        alone, this = self.smoke(None, "")
        self.assertEqual(alone, [this])

    def test_a_benchmark_that_fails_in_the_other_commit_is_no_failure_and_one_of_this_tree_is(self):
        other = mock.Mock(programs={"paths": "other-paths"})
        alone, this = self.smoke(other, "other-paths")
        self.assertEqual(alone, [this])
        with self.assertRaises(subprocess.CalledProcessError):
            self.smoke(other, "this-paths")


class Statistics(unittest.TestCase):
    def test_crates_are_those_of_the_tree(self):
        tree = AGAINST.Tree("this", "/top", "/top/target")
        artifact = {"reason": "compiler-artifact"}
        messages = [artifact | {"manifest_path": f"{folder}/Cargo.toml"} for folder in ("/top/core/b", "/registry/c", "/top/core/a")]
        self.assertEqual(tree.own_crates([*messages, {"reason": "build-finished"}]), ["core/a", "core/b"])

    def test_few_rounds_give_all_values_as_the_interval_and_many_give_inner_ones(self):
        self.assertEqual(AGAINST.interval([3, 1, 2]), (1, 3))
        self.assertEqual(AGAINST.interval(range(9)), (1, 7))


if __name__ == "__main__":
    unittest.main()
