#!/usr/bin/python3
"""Lets a path of a sprayed flow go dark without a port event, and measures for how long the flow stands still.

    sprayed.py [--braid PROGRAM] [--cuts N] [--alone N] [--json]

Needs root. Two edges spray one plain TCP connection, which sends messages at 1 kHz that are answered, over two paths of equal
delay. All frames of one path are dropped in both directions or in one, while every carrier stays up; the longest time without
an answer is the outage. --alone does the same after the controller was killed. Exit code 5 if a target is not reached.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from repair import gap, percentile  # noqa: E402
from testbed import TRAFFIC, Lab, wait_until  # noqa: E402

SCENARIO = Path(__file__).resolve().parent.parent.parent / "scenarios" / "mpsdn-equal.yaml"
PATHS = ("north", "south")
# Milliseconds, at p50 and p99.
TARGETS = (100, 150)
# Seconds: between cuts, and for which a path is dark.
PAUSE, DARK = 6, 4


def deploy(lab):
    """The lab with a controller of its own; where that is reached."""
    lab.run("lab", "deploy", str(SCENARIO), "--name", lab.name)
    return json.loads(lab.run("lab", "inspect", lab.name, "--json"))["controller"]


def edges(lab, controller):
    return json.loads(lab.run("edges", "--controller", f"http://{controller['http']}", "--json"))["edges"]


def kill_controller(lab):
    found = subprocess.run(
        ["pgrep", "--full", f"controller run .*--lab {lab.name} "], check=True, capture_output=True, text=True
    )
    os.kill(int(found.stdout), signal.SIGKILL)


def sprays(edges):
    """Whether some group sprays over both paths."""
    groups = [group for edge in edges for group in edge["spray_groups"]]
    return any(sum(path["state"] == "active" for path in group["paths"]) == len(PATHS) for group in groups)


def darken(lab, path, is_one_way):
    before = time.time()
    lab.run("lab", "link", "set", lab.name, "west", path, "--loss", "100%", *(["--forward"] if is_one_way else []))
    return before


def cut(lab, count, ready):
    """When each cut began."""
    cuts = []
    for number in range(count):
        ready()
        path = PATHS[number % 2]
        cuts.append(darken(lab, path, is_one_way=number % 4 >= 2))
        time.sleep(DARK)
        lab.run("lab", "link", "set", lab.name, "west", path, "--loss", "0%")
        time.sleep(PAUSE)
        print(f"cut {number + 1} of {count}: {path}", file=sys.stderr)
    return cuts


def figures(cuts, arrivals):
    gaps = [gap(arrivals, at, DARK - 0.1) for at in cuts]
    quiet = [gap(arrivals, at - 0.6, 0.5) for at in cuts]
    return {
        "cuts": len(gaps),
        "p50_ms": round(percentile(gaps, 0.5), 1),
        "p99_ms": round(percentile(gaps, 0.99), 1),
        "without_cut_max_ms": round(max(quiet, default=0), 1),
    }


def measure(lab, arguments, folder):
    controller = deploy(lab)
    lab.inside("right", "python3", TRAFFIC, "serve").stdout.readline()
    file = str(Path(folder) / "flow")
    flow = lab.inside("left", "python3", TRAFFIC, "flow", "10.0.0.2", "1000", "tcp", file)
    flow.stdout.readline()
    ready = lambda: wait_until("both paths are sprayed over", lambda: sprays(edges(lab, controller)))  # noqa: E731
    cuts = cut(lab, arguments.cuts, ready)
    alone = []
    if arguments.alone:
        ready()
        kill_controller(lab)
        alone = cut(lab, arguments.alone, lambda: None)
    print(lab.stop(flow, 90).strip()[:200], file=sys.stderr)
    arrivals = sorted(back for _, back in json.loads(Path(file).read_text()) if back)
    result = {"schema": "braid/v1", "outages": figures(cuts, arrivals)}
    if alone:
        result["outages_without_controller"] = figures(alone, arrivals)
    found = [result[part] for part in ("outages", "outages_without_controller") if part in result]
    return result | {"ok": all(it["p50_ms"] <= TARGETS[0] and it["p99_ms"] <= TARGETS[1] for it in found)}


def table(result):
    for part in ("outages", "outages_without_controller"):
        if it := result.get(part):
            yield (
                f"{part.replace('_', ' '):<28} {it['cuts']:>3} cuts   p50 {it['p50_ms']:>7} ms   p99 {it['p99_ms']:>7} ms"
                f"   (without a cut at most {it['without_cut_max_ms']} ms)"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--alone", type=int, default=0, help="cuts after the controller was killed")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Lab(arguments.braid, "sprayed-check") as lab:
        result = measure(lab, arguments, folder)
    print(json.dumps(result) if arguments.json else "\n".join(table(result)))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
