#!/usr/bin/python3
"""Lets the link between an edge and a switch of Open vSwitch go dark, and measures for how long datagrams stand still.

    edges.py [--braid PROGRAM] [--cuts N] [--alone N] [--untimed] [--json] [--log FILE]

Needs root. Two edges with two switches between them; the controller turns on BFD at the switches by their database, and has the
edges answer it. A probe sends a thousand datagrams a second, which are answered. All frames of the link that it takes are
dropped in both directions or in one, while every carrier stays up; the longest time without an answer is the outage. --alone
does the same after the controller was killed. Exit code 5 if a target is not reached; with --untimed, on a machine that others
use, datagrams must continue long before the link does.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from silent import TARGETS, database, is_reached, outages, table  # noqa: E402
from sprayed import DARK, PATHS, PAUSE, SCENARIO, UNTIMED, darken, kill_controller  # noqa: E402
from testbed import TRAFFIC, Lab, api, wait_until  # noqa: E402

# Directed, between edges and switches.
LINKS = 8
# The ports of switches that lead to edges.
PORTS = 4
# Seconds within which a link that goes down three times is not used for a while.
FLAP_WINDOW = 61


def bfd(lab):
    """By interface, what Open vSwitch says of BFD."""
    text = lab.ovs("ovs-vsctl", "--format=json", "--columns=name,bfd_status", "list", "interface")
    return {name: dict(status[1]) for name, status in json.loads(text)["data"] if status[1]}


def is_up(lab):
    return sum(status["state"] == "up" for status in bfd(lab).values()) == PORTS


def way(lab, names):
    """The switch by which the probe goes."""
    document = json.loads(lab.ovs(lab.braid, "paths", names["west"], names["east"], "-k", "1", "--json"))
    passed = {link["src"]["dpid"] for link in document["paths"][0]["links"]}
    return next(name for name in PATHS if names[name] in passed)


def deploy(lab, log):
    """The lab's datapath ids, and a controller in the place of its own that reaches the switches' database."""
    lab.run("lab", "deploy", str(SCENARIO), "--name", lab.name)
    inspection = json.loads(lab.run("lab", "inspect", lab.name, "--json"))
    kill_controller(lab)
    options = ["--openflow", inspection["controller"]["openflow"], "--ecmp", "off", "--ovsdb", database(lab)]
    process = lab.inside(None, lab.braid, "controller", "run", *options, stderr=log)
    process.stdout.readline()
    return {switch["name"]: switch["dpid"] for switch in inspection["switches"]}, process


def cut(lab, count, path_of, damped=True):
    """(time, flows that were cut) of each."""
    cuts = []
    for number in range(count):
        if damped and number >= 2:
            time.sleep(max(0, cuts[-2][0] + FLAP_WINDOW - time.time()))
        path = path_of()
        cuts.append((darken(lab, path, is_one_way=number % 2 == 1), ["datagrams"]))
        time.sleep(DARK)
        lab.run("lab", "link", "set", lab.name, "west", path, "--loss", "0%")
        wait_until("BFD is up again", lambda: is_up(lab), 30)
        time.sleep(PAUSE)
        print(f"cut {number + 1} of {count}: {path}", file=sys.stderr)
    return cuts


def measure(lab, arguments, folder, log):
    names, process = deploy(lab, log)
    wait_until("all links are known", lambda: len(api(lab, "links")) == LINKS)
    wait_until("BFD is up between edges and switches", lambda: is_up(lab))
    wait_until("all links are used", lambda: len(api(lab, "links")) == LINKS)
    lab.inside("right", "python3", TRAFFIC, "serve").stdout.readline()
    file = str(Path(folder) / "probe")
    probe = lab.inside("left", "python3", TRAFFIC, "probe", "10.0.0.2", "1000", file)
    probe.stdout.readline()
    time.sleep(PAUSE)

    def way_now():
        wait_until("all links are used", lambda: len(api(lab, "links")) == LINKS)
        return way(lab, names)

    cuts = cut(lab, arguments.cuts, way_now)
    alone = []
    if arguments.alone:
        last = way_now()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        alone = cut(lab, arguments.alone, lambda: last, damped=False)
    lab.stop(probe, 90)
    result = {"schema": "braid/v1", "outages": outages(cuts, {"datagrams": file})}
    if alone:
        result["outages_without_controller"] = outages(alone, {"datagrams": file})
    targets = (UNTIMED, UNTIMED) if arguments.untimed else TARGETS
    return result | {"ok": is_reached(result, targets)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--alone", type=int, default=0, help="cuts after the controller was killed")
    parser.add_argument("--untimed", action="store_true", help="others use the machine")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", default="/dev/null", help="what the controller says")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Lab(arguments.braid, "edges-check") as lab, open(arguments.log, "w") as log:
        result = measure(lab, arguments, folder, log)
    print(json.dumps(result) if arguments.json else "\n".join(table(result)))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
