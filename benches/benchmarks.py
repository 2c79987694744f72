"""The benchmarks of this repository for the scripts beside it: how each is built and run, and what it has measured."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")).resolve()


class Benchmark(NamedTuple):
    """A benchmark's package and target. Those without criterion print their figures."""

    package: str
    target: str
    has_criterion: bool = True


BENCHMARKS = {
    "brain": Benchmark("braid-control", "brain"),
    "codec": Benchmark("braid-openflow", "codec"),
    "packets": Benchmark("braid-packet", "parse"),
    "paths": Benchmark("braid-paths", "path_sets"),
    "path-cache": Benchmark("braid-paths", "service"),
    "resequencer": Benchmark("braid-spray", "resequencer"),
    "switch": Benchmark("braid-switch", "pipeline"),
    "link-model": Benchmark("braid-link-model", "one_way"),
    "simulator": Benchmark("braid-sim", "fabric"),
    "event-queue": Benchmark("braid-sim", "event_queue"),
    "load": Benchmark("braid-controller", "load", has_criterion=False),
    "links": Benchmark("braid-link", "forward", has_criterion=False),
    "edges": Benchmark("braid-edge", "forwarding", has_criterion=False),
}

# For criterion: little time for each benchmark, and no plots.
QUICK = ["--measurement-time", "0.5", "--warm-up-time", "0.1", "--sample-size", "10"]


class Figure(NamedTuple):
    """A measured value, the interval that criterion gives for it, and whether more of it is better."""

    value: float
    unit: str
    more_is_better: bool = False
    interval: tuple | None = None


class Tree:
    """A tree whose benchmarks are built."""

    def __init__(self, name, folder, target, profile=None):
        self.name, self.folder, self.target, self.programs, self.crates = name, Path(folder).resolve(), Path(target), {}, []
        # What cargo is told in its environment, such as a profile that compiles sooner.
        self.profile = profile or {}

    def build(self, names):
        """Builds these benchmarks with one call, so that what they share is compiled once. Raises CalledProcessError."""
        wanted = [BENCHMARKS[name] for name in names]
        chosen = [it for benchmark in wanted for it in ("--package", benchmark.package, "--bench", benchmark.target)]
        print(f"building {', '.join(names)} of {self.name}", file=sys.stderr, flush=True)
        built = subprocess.run(
            ["cargo", "bench", "--locked", *chosen, "--no-run", "--message-format", "json-render-diagnostics"],
            cwd=self.folder,
            env={**os.environ, **self.profile, "CARGO_TARGET_DIR": str(self.target)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
        targets = {it["target"]["name"]: it["executable"] for it in messages if it.get("executable")}
        self.programs = {name: targets[benchmark.target] for name, benchmark in zip(names, wanted)}
        self.crates = self.own_crates(messages)

    def own_crates(self, messages):
        """The folders of this tree's crates among those that were compiled."""
        folders = {Path(it["manifest_path"]).parent for it in messages if it["reason"] == "compiler-artifact"}
        return sorted(str(it.relative_to(self.folder)) for it in folders if it.is_relative_to(self.folder))

    def run(self, name, arguments, home, program=None):
        """The figures of one run. Criterion keeps its estimates in `home`. `program` runs in place of the tree's own, which it
        then loads: one generator for the controllers of two trees."""
        benchmark = BENCHMARKS[name]
        shutil.rmtree(home, ignore_errors=True)
        printed = subprocess.run(
            [program or self.programs[name], "--bench", *(["--noplot"] if benchmark.has_criterion else []), *arguments],
            cwd=self.folder,
            env={**os.environ, "CRITERION_HOME": str(home), "BRAID_LOAD_PROGRAM": self.programs[name]},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        return estimates(home) if benchmark.has_criterion else figures_of(printed)


def estimates(home):
    """The medians that criterion has written to a folder, by benchmark, with their intervals."""
    figures = {}
    for described in sorted(Path(home).glob("**/new/benchmark.json")):
        name = json.loads(described.read_text())["full_id"]
        median = json.loads((described.parent / "estimates.json").read_text())["median"]
        interval = median["confidence_interval"]
        bounds = (interval["lower_bound"], interval["upper_bound"])
        figures[name] = Figure(median["point_estimate"], "ns", interval=bounds)
    return figures


# Lines of benchmarks without criterion: a pattern, and for each of its groups the figure's name, unit and whether more is better.
# {0} is the line's heading, {1} its first group.
PRINTED = [
    (r"  (\S.*?)\s+(\d+) a second of ", [("{0}: {1}, a second", "", True)]),
    (
        r"  (\S.*?)\s+p50 ([\d.]+) µs, p99 ([\d.]+) µs of ",
        [("{0}: {1}, p50", "µs", False), ("{0}: {1}, p99", "µs", False)],
    ),
    (r"  (memory)\s+[\d.]+ MB before, ([\d.]+) MB after", [("{0}: {1}", "MB", False)]),
    (
        r"(\S.*?): ([\d.]+) Gbit/s; core-seconds a Gbit at the edges ([\d.]+) and ([\d.]+)",
        [
            ("{1}", "Gbit/s", True),
            ("{1}: sender, core-seconds a Gbit", "", False),
            ("{1}: receiver, core-seconds a Gbit", "", False),
        ],
    ),
    (
        r"(delay by .*?|added by two edges)(?: at [\d.]+ Gbit/s)?: p50 ([\d.]+\Ss?), p99 ([\d.]+\Ss?)",
        [("{1}, p50", "µs", False), ("{1}, p99", "µs", False)],
    ),
    (r"(\S.*?) {2,}(\d+) \(\d+ to \d+\)  [\d.]+ x bare", [("{1}, frames a second of a core", "", True)]),
    (
        r"(delay of\s+\d+ ms), .*: p1 -?\d+ p50 (-?\d+) p99 (-?\d+)",
        [("{1}, too late by, p50", "µs", False), ("{1}, too late by, p99", "µs", False)],
    ),
]


def figures_of(text):
    """The figures in what a benchmark without criterion has printed."""
    figures, heading = {}, ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            heading = line.split(":")[0]
        for pattern, meanings in PRINTED:
            if found := re.match(pattern, line):
                values = found.groups()[1:]
                for (name, unit, more_is_better), value in zip(meanings, values):
                    figures[name.format(heading, found[1])] = Figure(number(value), unit, more_is_better)
                break
    return figures


def number(text):
    """A number; of a time with its unit, the microseconds."""
    value, unit = re.fullmatch(r"(-?[\d.]+)(\D*)", text).groups()
    return float(value) * {"": 1, "ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}[unit]


def readable(value):
    """A value with as many places as count."""
    return f"{value:.{1 if abs(value) >= 10 else 3}f}"


def said(*command):
    """What a command prints, without the end of the line."""
    return subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def commit():
    """This tree's commit, and whether files differ from it."""
    return said("git", "rev-parse", "HEAD"), said("git", "status", "--porcelain", "--untracked-files=no") != ""


def conditions():
    """Where, with what and beside how much other work these benchmarks run."""
    name, is_changed = commit()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "commit": name,
        "changed": is_changed,
        "machine": {"processor": processor(), "cores": os.cpu_count(), "memory_bytes": memory},
        "kernel": platform.release(),
        "rustc": said("rustc", "--version"),
        "load_average": os.getloadavg()[0],
    }


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def write_json(path, document):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    print(f"written to {path}", file=sys.stderr)
