#!/usr/bin/python3
"""Cuts links under 100 streams and a probe at 1 kHz, and measures how soon traffic goes on.

    repair.py [--braid PROGRAM] [--cuts N] [--silent N] [--alone N] [--json]

Needs root. Open vSwitch's monitors tell when a switch says that a port is down, and when rules are written. From
the cut until then Open vSwitch goes through its whole configuration; the gap in the probe, a datagram that is answered,
has all of it. The controller uses one path of several equal ones, so that the probe takes the links that are cut.
Prints each figure beside its target; exit code 5 if one is not reached.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from testbed import LINKS, TRAFFIC, Lab, api, bring_up, start_traffic, streams_of, wait_until  # noqa: E402

# The probe's route: where it enters the network, and where it leaves it.
PROBE = ("s21", "s35")
# What drops every frame and leaves the carrier: a bucket that holds none.
SWALLOW = "tbf rate 8bit burst 16 limit 16"
# The table of bypasses.
BYPASS_TABLE = 3
# (figure, target, unit)
TARGETS = [
    ("rules_p50", 10, "ms", "port reported down to last rule written, p50"),
    ("rules_p99", 50, "ms", "port reported down to last rule written, p99"),
    ("gap_p50", 20, "ms", "gap in the probe, port down, p50"),
    ("gap_max", 100, "ms", "gap in the probe, port down, longest"),
    ("alone_max", 100, "ms", "gap in the probe, no controller, longest"),
    ("silent_max", 3000, "ms", "gap in the probe, silent loss, longest"),
]

OTHERS = [
    "alone_p50",
    "silent_p50",
    "noticed_p50",
    "noticed_max",
    "rules_written_p50",
    "probes_lost_p50",
    "probes_lost_max",
    "gap_without_cut_p50",
    "gap_without_cut_max",
]


class Monitors:
    """When rules of any switch were written, and when its ports went down."""

    def __init__(self, lab, switches):
        self.events = []
        self.downs = []
        for switch in switches:
            command = ["ovs-ofctl", "-O", "OpenFlow13", "--timestamp", "monitor", switch, "1", "watch:!initial"]
            process = lab.inside(None, *command, stderr=subprocess.STDOUT)
            threading.Thread(target=self.read, args=(switch, process.stdout), daemon=True).start()

    def read(self, switch, lines):
        at = 0.0
        for line in lines:
            if stamp := re.match(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+): ", line):
                at = datetime.fromisoformat(stamp[1] + "000").replace(tzinfo=timezone.utc).timestamp()
            elif "PORT_DOWN" in line:
                self.downs.append(at)
            elif event := re.search(r"event=(\w+) .*?table=(\d+)", line):
                self.events.append((at, event[1], int(event[2]), switch))

    def down(self, begin, end):
        """When a switch said first that a port is down."""
        return min((at for at in self.downs if begin <= at < end), default=None)

    def written(self, begin, end):
        """The times at which rules of paths were written, without those of ports and of bypasses for the next failure."""
        paths = [event for event in self.events if event[2] not in (0, BYPASS_TABLE) and event[1] != "DELETED"]
        return [at for at, *_ in paths if begin <= at < end]


class Cables:
    """The links of the lab, by the names of their switches."""

    def __init__(self, lab, inspection):
        self.lab = lab
        self.devices = {}
        for link in inspection["links"]:
            a, b = link["ends"]
            if "port" in a and "port" in b:
                self.devices[frozenset((a["name"], b["name"]))] = [a["device"], b["device"]]
        self.helper = lab.inside(None, "python3", TRAFFIC, "cables", stdin=subprocess.PIPE)
        self.helper.stdout.readline()
        self.last_cut = dict.fromkeys(self.devices, 0.0)

    def set(self, cable, state):
        """The time when it is about to be done."""
        print(state, *self.devices[cable], file=self.helper.stdin, flush=True)
        self.last_cut[cable] = time.time()
        return float(self.helper.stdout.readline().split()[0])

    def swallow(self, cable):
        before = time.time()
        for device in self.devices[cable]:
            self.lab.ovs("tc", "qdisc", "replace", "dev", device, "root", *SWALLOW.split())
        self.last_cut[cable] = before
        return before

    def mend(self, cable):
        a, b = cable
        self.lab.run("lab", "link", "set", self.lab.name, a, b, "--rate", "100Mbit")

    def longest_whole(self, cables):
        """The one that was left alone for the longest time, so that none is taken for one that flaps."""
        return min(cables, key=lambda cable: self.last_cut[cable])


def probe_way(lab, names):
    """The links on the probe's route."""
    document = json.loads(lab.ovs(lab.braid, "paths", names[PROBE[0]], names[PROBE[1]], "-k", "1", "--json"))
    links = document["paths"][0]["links"]
    return [frozenset(names[link[end]["dpid"]] for end in ("src", "dst")) for link in links]


def whole(lab):
    return len(api(lab, "links")) == LINKS


def cut_links(lab, cables, names, count):
    """(time, whether the probe's way was cut), each cut mended before the next."""
    cuts = []
    for number in range(count):
        way = probe_way(lab, names)
        through = number % 2 == 0
        cable = cables.longest_whole(way if through else [it for it in cables.devices if it not in way])
        at = cables.set(cable, "down")
        time.sleep(1.5)
        cables.set(cable, "up")
        wait_until("all links are known", lambda: whole(lab))
        time.sleep(2.5)
        cuts.append((at, through))
        print(f"cut {number + 1} of {count}: {' - '.join(sorted(cable))}", file=sys.stderr)
    return cuts


def cut_links_alone(cables, way, count):
    """The same while no controller is there."""
    cuts = []
    for number in range(count):
        cable = cables.longest_whole(way)
        cuts.append(cables.set(cable, "down"))
        time.sleep(1.5)
        cables.set(cable, "up")
        time.sleep(1.5)
        print(f"cut {number + 1} of {count} without a controller: {' - '.join(sorted(cable))}", file=sys.stderr)
    return cuts


def swallow_frames(lab, cables, names, count):
    times = []
    for number in range(count):
        cable = cables.longest_whole(probe_way(lab, names))
        times.append(cables.swallow(cable))
        time.sleep(6)
        cables.mend(cable)
        wait_until("all links are known", lambda: whole(lab))
        time.sleep(2.5)
        print(f"silent loss {number + 1} of {count}: {' - '.join(sorted(cable))}", file=sys.stderr)
    return times


def gap(arrivals, at, window):
    """The longest time in milliseconds in which no answer came, of those that end after `at`, or last until the window ends."""
    near = [arrival for arrival in arrivals if at - 0.05 <= arrival < at + window] + [at + window]
    return 1000 * max((b - a for a, b in zip(near, near[1:]) if b >= at), default=window)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def figures(monitors, cuts, silent, alone, probes):
    repairs, noticed = [], []
    for at, _ in cuts:
        down, written = monitors.down(at, at + 1.4), monitors.written(at, at + 1.4)
        if down and written:
            noticed.append(1000 * (down - at))
            repairs.append((1000 * (max(written) - down), len(written)))
    arrivals = sorted(arrival for _, arrival in probes if arrival)
    gaps = [gap(arrivals, at, 1.4) for at, through in cuts if through]
    lost = [sum(1 for sent, back in probes if at - 0.1 <= sent < at + 1.4 and not back) for at, through in cuts if through]
    silences = [gap(arrivals, at, 5.5) for at in silent]
    unled = [gap(arrivals, at, 1.4) for at in alone]
    quiet = [gap(arrivals, at - 0.6, 0.5) for at, _ in cuts]
    latencies = [latency for latency, _ in repairs]
    return {
        "cuts": len(cuts),
        "cuts_with_repair": len(repairs),
        "rules_written_p50": percentile([count for _, count in repairs], 0.5),
        "noticed_p50": percentile(noticed, 0.5),
        "noticed_max": max(noticed, default=0.0),
        "rules_p50": percentile(latencies, 0.5),
        "rules_p99": percentile(latencies, 0.99),
        "cuts_of_the_probe": len(gaps),
        "gap_p50": percentile(gaps, 0.5),
        "gap_max": max(gaps),
        "probes_lost_p50": percentile(lost, 0.5),
        "probes_lost_max": max(lost),
        "gap_without_cut_p50": percentile(quiet, 0.5),
        "gap_without_cut_max": max(quiet),
        "alone_cuts": len(unled),
        "alone_p50": percentile(unled, 0.5),
        "alone_max": max(unled, default=0.0),
        "silent_losses": len(silences),
        "silent_p50": percentile(silences, 0.5),
        "silent_max": max(silences),
    }


def measure(lab, arguments, log):
    inspection = lab.deploy()
    switches = [switch["name"] for switch in inspection["switches"]]
    names = {switch["name"]: switch["dpid"] for switch in inspection["switches"]}
    names |= {dpid: name for name, dpid in names.items()}
    controller = bring_up(lab, switches, log, "--ecmp", "off")
    with tempfile.NamedTemporaryFile() as record:
        _, probe = start_traffic(lab, 1000, [record.name])
        streams = len(streams_of(lab))
        monitors, cables = Monitors(lab, switches), Cables(lab, inspection)
        time.sleep(3)
        cuts = cut_links(lab, cables, names, arguments.cuts)
        silent = swallow_frames(lab, cables, names, arguments.silent)
        way = probe_way(lab, names)
        os.kill(controller.pid, signal.SIGKILL)
        controller.wait()
        alone = cut_links_alone(cables, way, arguments.alone)
        lab.stop(probe)
        probes = json.load(record)
    result = {"schema": "braid/v1", "switches": len(switches), "streams": streams}
    values = {key: round(value, 1) for key, value in figures(monitors, cuts, silent, alone, probes).items()}
    targets = [
        {"name": name, "value": values[key], "at_most": target, "unit": unit, "ok": values[key] <= target}
        for key, target, unit, name in TARGETS
    ]
    return result | values | {"targets": targets, "ok": all(target["ok"] for target in targets)}


def table(result):
    yield f"{result['switches']} switches, {result['streams']} streams, {result['cuts']} cuts, {result['silent_losses']} silent losses"
    for target in result["targets"]:
        mark = "ok  " if target["ok"] else "FAIL"
        yield f"{mark} {target['name']:<45} {target['value']:>8} ms   ≤ {target['at_most']}"
    for key in OTHERS:
        yield f"     {key.replace('_', ' '):<45} {result[key]:>8}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--silent", type=int, default=6)
    parser.add_argument("--alone", type=int, default=10, help="cuts after the controller was killed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", default="/dev/null", help="what the controller says")
    arguments = parser.parse_args()
    with Lab(arguments.braid, "repair-check") as lab, open(arguments.log, "w") as log:
        result = measure(lab, arguments, log)
    print(json.dumps(result) if arguments.json else "\n".join(table(result)))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
