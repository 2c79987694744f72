#!/usr/bin/env python3
"""Plants violations of the rules of CONTRIBUTING.md in a copy of the tree: each check must find its own, and name the place.

    tests/lint/planted.py

Needs git and cargo; takes a few seconds.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CONTROL = "core/control/src"


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.copy = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # The tree as it is, also what is not committed yet.
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        for name in subprocess.run(listed, cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\0"):
            if name and (TOP / name).is_file():
                (cls.copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TOP / name, cls.copy / name)
        for command in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=cls.copy, check=True)

    def run_check(self, *command):
        done = subprocess.run(command, cwd=self.copy, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def plant(self, name, text):
        """Appends to a file, or makes it, until the test ends."""
        path = self.copy / name
        before = path.read_text() if path.exists() else None
        self.addCleanup(lambda: path.unlink() if before is None else path.write_text(before))
        self.addCleanup(lambda: subprocess.run(["git", "add", "--all"], cwd=self.copy, check=True))
        path.write_text((before or "") + text)
        subprocess.run(["git", "add", "--all"], cwd=self.copy, check=True)

    def is_found(self, words, place, *command):
        status, said = self.run_check(*(command or ["scripts/check-boundaries"]))
        self.assertNotEqual(status, 0, said)
        self.assertIn(words, said)
        self.assertIn(place, said)

    def test_the_tree_itself_passes(self):
        for check in ("scripts/check-boundaries", "scripts/check-dependencies"):
            status, said = self.run_check(check)
            self.assertEqual(status, 0, said)

    def test_a_method_of_the_brain_outside_its_files(self):
        self.plant(f"{CONTROL}/hosts/mod.rs", "\nimpl Brain {}\n")
        self.is_found("The brain is its machines", f"{CONTROL}/hosts/mod.rs")

    def test_a_method_of_the_dispatch_outside_its_files(self):
        self.plant(f"{CONTROL}/streams/mod.rs", "\nimpl<'a> Dispatch<'a> {}\n")
        self.is_found("The brain is its machines", f"{CONTROL}/streams/mod.rs")

    def test_a_machine_that_knows_the_brain(self):
        self.plant(f"{CONTROL}/fabric/mod.rs", "\nuse crate::brain::Brain;\n")
        self.is_found("A machine reports by events", f"{CONTROL}/fabric/mod.rs")

    def test_a_machine_that_knows_one_above_it(self):
        for planted in ("use crate::streams::Streams;", "use crate::{label::Label, streams::Streams};"):
            with self.subTest(planted=planted):
                self.plant(f"{CONTROL}/fabric/mod.rs", f"\n{planted}\n")
                self.is_found("only machines below it", f"{CONTROL}/fabric/mod.rs")
                self.doCleanups()

    def test_a_pipeline_that_knows_commands(self):
        self.plant(f"{CONTROL}/pipeline/hop.rs", "\nuse crate::{command::Command, label::Label};\n")
        self.is_found("it knows neither commands nor events", f"{CONTROL}/pipeline/hop.rs")

    def test_an_anonymous_tuple_as_an_argument_in_any_form(self):
        forms = {
            "pattern": "(from, to): (u64, u64)",
            "reference": "ends: &(u64, u64)",
            "option": "ends: Option<(u64, u64)>",
            "slice": "ends: &[(u64, u64)]",
            "vector": "ends: &mut Vec<(u64, Vec<u8>)>",
            "iterator": "ends: impl Iterator<Item = (u64, u64)>",
            "several": "&self,\n    test: impl Fn(u64, u64) -> bool,\n    ends: Option<&(u64, u64)>,\n",
        }
        for name, argument in forms.items():
            with self.subTest(form=name):
                self.plant(f"{CONTROL}/routing/mod.rs", f"\nfn route_{name}<T>({argument}) {{}}\n")
                self.is_found("has a name: write a struct", f"route_{name}")
                self.doCleanups()

    def test_an_anonymous_tuple_with_an_alias(self):
        self.plant(f"{CONTROL}/routing/mod.rs", "\ntype Ends = (u64, u64);\n")
        self.is_found("has a name: write a struct", "Ends is a tuple by another name")

    def test_closures_and_empty_tuples_are_no_tuples(self):
        self.plant(f"{CONTROL}/routing/mod.rs", "\nfn route(test: impl Fn((u64, u64)) -> bool, unit: (), of: &dyn Fn(u64)) {}\n")
        status, said = self.run_check("scripts/check-boundaries")
        self.assertEqual(status, 0, said)

    def test_a_function_of_more_than_five_arguments(self):
        arguments = ", ".join(f"argument_{number}: u64" for number in range(6))
        self.plant(f"{CONTROL}/routing/mod.rs", f"\nfn route<F: Fn(u64) -> u64>(&mut self, {arguments}) {{}}\n")
        self.is_found("nor more than five arguments", "route takes 6 arguments")

    def test_a_machine_that_shows_more_than_twelve_methods(self):
        methods = "".join(f"    pub(crate) fn handle_{number}(&self) {{}}\n" for number in range(13))
        self.plant(f"{CONTROL}/placer.rs", f"\nimpl Placer {{\n{methods}}}\n")
        self.is_found("at most twelve methods", "Placer")

    def test_functions_that_stand_for_methods_of_a_machine(self):
        forms = {
            "reference": "planted_{0}(of: &Fabric)",
            "pattern": "planted_{0}<'a>(\n    Fabric {{ labels, .. }}: &'a mut Fabric,\n    at: u64,\n)",
        }
        for name, form in forms.items():
            with self.subTest(form=name):
                functions = "".join(f"\npub(crate) fn {form.format(number)} {{\n}}\n" for number in range(13))
                self.plant(f"{CONTROL}/fabric/pending.rs", functions)
                self.is_found("functions of a machine included", "fabric Fabric: 25")
                self.doCleanups()

    def test_a_method_that_the_face_of_its_machine_does_not_name(self):
        self.plant(f"{CONTROL}/requests/assignments.rs", "\nimpl Requests {\n    pub(crate) fn handle_planted(&self) {}\n}\n")
        self.is_found("names, in the doc of its type", "Requests::handle_planted")

    def test_a_method_of_the_switch_outside_its_files(self):
        self.plant("core/switch/src/groups/mod.rs", "\nimpl Switch {}\n")
        self.is_found("The switch is its machines", "core/switch/src/groups/mod.rs")

    def test_a_part_of_a_lab_that_knows_who_deploys_it(self):
        self.plant("tools/lab/src/agents/mod.rs", "\nuse crate::deploy::deploy;\n")
        self.is_found("not who deploys it", "tools/lab/src/agents/mod.rs")

    def test_a_core_that_knows_the_api(self):
        self.plant("core/steering/src/lib.rs", "\nuse braid_api::Transfer;\n")
        self.is_found("The core does not know", "core/steering/src/lib.rs")

    def test_a_route_that_is_not_described(self):
        self.plant("daemons/controller/src/http/page.rs", '\nfn more() { router.route("/api/v1/more", get(more)); }\n')
        self.is_found("A route is described where it is handled", "daemons/controller/src/http/page.rs")

    def test_a_file_that_does_not_say_what_is_in_it(self):
        self.plant(f"{CONTROL}/nameless.rs", "fn nothing() {}\n")
        self.is_found("begins with a //! line", f"{CONTROL}/nameless.rs")

    def test_a_library_without_an_example(self):
        library = self.copy / "io/tls/src/lib.rs"
        before = library.read_text()
        self.addCleanup(lambda: library.write_text(before))
        library.write_text(before.replace("//! ```", "//! "))
        self.is_found("begins with an example", "io/tls/src/lib.rs")

    def test_a_page_that_names_a_file_that_does_not_exist(self):
        self.plant("docs/paths.md", "\nSee `core/paths/src/nowhere.rs`.\n")
        self.is_found("names a file that does not exist", "core/paths/src/nowhere.rs")

    def test_a_dependency_without_a_reason(self):
        self.plant("core/types/Cargo.toml", '\n[dev-dependencies.left-pad]\nversion = "1"\n\n[build-dependencies]\nleft-pad = "1"\n')
        self.is_found("left-pad: used, no reason given", "left-pad", "scripts/check-dependencies")

    def test_a_crate_that_depends_on_one_that_is_not_for_it(self):
        self.plant("Cargo.lock", "")
        manifest = self.copy / "core/assign/Cargo.toml"
        before = manifest.read_text()
        self.addCleanup(lambda: manifest.write_text(before))
        manifest.write_text(before.replace("[dependencies]\n", "[dependencies]\nbraid-switch.workspace = true\n"))
        updated = self.run_check("cargo", "update", "--workspace", "--offline", "--quiet")
        self.assertEqual(updated[0], 0, updated[1])
        os.environ.setdefault("CARGO_TARGET_DIR", str(TOP / "target"))
        self.is_found("was not marked as a wrapper", "braid-switch", "scripts/deny")

    def test_a_clock_the_environment_and_the_order_of_a_hash_table_in_the_core(self):
        violations = {
            "time is an argument": "pub fn late() -> std::time::Instant {\n    std::time::Instant::now()\n}",
            "settings are arguments": 'pub fn home() -> Option<String> {\n    std::env::var("HOME").ok()\n}',
            "the order of a hash table means nothing": "pub fn keys(of: &std::collections::HashMap<u8, u8>) -> Vec<&u8> {\n    of.keys().collect()\n}",
            "iteration over unordered hash-based type": "pub fn all(of: &std::collections::HashMap<u8, u8>, out: &mut Vec<u8>) {\n    for (key, _) in of {\n        out.push(*key);\n    }\n}",
        }
        self.plant("core/types/src/lib.rs", "".join(f"\n/// Planted.\n{text}\n" for text in violations.values()))
        target = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")) / "planted"
        clippy = ["cargo", "clippy", "--quiet", "--locked", "--package", "braid-types", "--target-dir", str(target)]
        for words in violations:
            with self.subTest(rule=words):
                self.is_found(words, "core/types/src/lib.rs", *clippy, "--", "-D", "warnings")

    def test_a_crate_of_the_core_that_may_follow_the_order_of_hash_tables(self):
        lint = "#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]\n"
        library = self.copy / "core/spray/src/lib.rs"
        before = library.read_text()
        self.assertIn(lint, before)
        self.addCleanup(lambda: library.write_text(before))
        library.write_text(before.replace(lint, ""))
        self.is_found("does not loop over hash tables", "core/spray/src/lib.rs")

    def test_an_index_into_what_has_arrived(self):
        self.plant("core/spray/src/segment.rs", "\n/// Reads a byte.\npub fn first(bytes: &[u8]) -> u8 {\n    bytes[0]\n}\n")
        target = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")) / "planted"
        clippy = ["cargo", "clippy", "--quiet", "--locked", "--package", "braid-spray", "--target-dir", str(target)]
        self.is_found("indexing may panic", "core/spray/src/segment.rs", *clippy, "--", "-D", "warnings")


if __name__ == "__main__":
    unittest.main()
