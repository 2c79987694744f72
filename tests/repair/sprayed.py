#!/usr/bin/python3
"""Lets a path of a sprayed flow go dark without a port event, and measures for how long the flow stands still.

    sprayed.py [--braid PROGRAM] [--cuts N] [--alone N] [--untimed] [--json]

Needs root. Two edges spray one plain TCP connection, which sends messages at 1 kHz that are answered, over two paths of equal
delay. All frames of one path are dropped in both directions or in one, while every carrier stays up; the longest time without
an answer is the outage. --alone does the same after the controller was killed. Before the cuts no alarm may be raised, after
each one about a silent path. Exit code 5 if a target is not reached; with --untimed, on a machine that others use, a flow must
continue long before the path does.
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
from silent import TARGETS, is_reached, outages, table  # noqa: E402
from testbed import TRAFFIC, Lab, wait_until  # noqa: E402

SCENARIO = Path(__file__).resolve().parent.parent.parent / "scenarios" / "mpsdn-equal.yaml"
PATHS = ("north", "south")
# Seconds: between cuts, for which a path is dark, and without a cut.
PAUSE, DARK, CLEAN = 6, 4, 10
# Milliseconds, on a machine that others use: half of the time for which a path is dark.
UNTIMED = 2_000


def deploy(lab):
    """The lab with a controller of its own; where that is reached."""
    lab.run("lab", "deploy", str(SCENARIO), "--name", lab.name)
    return json.loads(lab.run("lab", "inspect", lab.name, "--json"))["controller"]


def ask(lab, controller, resource):
    return json.loads(lab.run(resource, "--controller", f"http://{controller['http']}", "--json"))[resource]


def alarms(lab, controller, *kinds):
    return sum(alarm["count"] for alarm in ask(lab, controller, "alarms") if alarm["kind"] in kinds)


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


def cut(lab, count, ready, noticed=lambda: None):
    """(time, flows that were cut) of each."""
    cuts = []
    for number in range(count):
        ready()
        path = PATHS[number % 2]
        cuts.append((darken(lab, path, is_one_way=(number + number // 2) % 2 == 1), ["sprayed"]))
        time.sleep(DARK)
        noticed()
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

    silent = 0

    def ready():
        nonlocal silent
        wait_until("both paths are sprayed over", lambda: sprays(ask(lab, controller, "edges")))
        silent = alarms(lab, controller, "silent_path")

    def noticed():
        wait_until("an alarm about a silent path", lambda: alarms(lab, controller, "silent_path") > silent, 5)

    ready()
    time.sleep(CLEAN)
    false_alarms = alarms(lab, controller, "silent_path", "lossy_link")
    cuts = cut(lab, arguments.cuts, ready, noticed)
    alone = []
    if arguments.alone:
        ready()
        kill_controller(lab)
        alone = cut(lab, arguments.alone, lambda: None)
    flow = json.loads(lab.stop(flow, 90))
    result = {"schema": "braid/v1", "false_alarms": false_alarms, "flow": flow}
    result["outages"] = outages(cuts, {"sprayed": file})
    if alone:
        result["outages_without_controller"] = outages(alone, {"sprayed": file})
    targets = (UNTIMED, UNTIMED) if arguments.untimed else TARGETS
    return result | {"ok": is_reached(result, targets) and not false_alarms and not flow["lost"]}


def summary(result):
    flow = result["flow"]
    yield f"{CLEAN} s without a cut: {result['false_alarms']} false alarms; of {flow['sent']} messages lost: {flow['lost']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--alone", type=int, default=0, help="cuts after the controller was killed")
    parser.add_argument("--untimed", action="store_true", help="others use the machine")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Lab(arguments.braid, "sprayed-check") as lab:
        result = measure(lab, arguments, folder)
    print(json.dumps(result) if arguments.json else "\n".join([*summary(result), *table(result)]))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
