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
from silent import is_reached, outages, table  # noqa: E402
from testbed import TRAFFIC, Lab, wait_until  # noqa: E402

SCENARIO = Path(__file__).resolve().parent.parent.parent / "scenarios" / "mpsdn-equal.yaml"
PATHS = ("north", "south")
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
    """(time, flows that were cut) of each."""
    cuts = []
    for number in range(count):
        ready()
        path = PATHS[number % 2]
        cuts.append((darken(lab, path, is_one_way=number % 4 >= 2), ["sprayed"]))
        time.sleep(DARK)
        lab.run("lab", "link", "set", lab.name, "west", path, "--loss", "0%")
        time.sleep(PAUSE)
        print(f"cut {number + 1} of {count}: {path}", file=sys.stderr)
    return cuts


def measure(lab, arguments, folder):
    controller = deploy(lab)
    lab.inside("right", "python3", TRAFFIC, "serve").stdout.readline()
    file = str(Path(folder) / "flow")
    flow = lab.inside("left", "python3", TRAFFIC, "flow", "10.0.0.2", "1000", "tcp", file)
    flow.stdout.readline()

    def ready():
        wait_until("both paths are sprayed over", lambda: sprays(edges(lab, controller)))

    cuts = cut(lab, arguments.cuts, ready)
    alone = []
    if arguments.alone:
        ready()
        kill_controller(lab)
        alone = cut(lab, arguments.alone, lambda: None)
    print(lab.stop(flow, 90).strip()[:200], file=sys.stderr)
    result = {"schema": "braid/v1", "outages": outages(cuts, {"sprayed": file})}
    if alone:
        result["outages_without_controller"] = outages(alone, {"sprayed": file})
    return result | {"ok": is_reached(result)}


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
