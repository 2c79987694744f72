#!/usr/bin/env python3
"""The controller's telemetry of edges that spray and resequence, compared with the lab's real traffic.

Usage, as root: tests/edge/telemetry.py [BRAID]

Deploys scenarios/mpsdn-unequal.yaml (50 Mbit/s with 10 ms, 100 Mbit/s with 30 ms), sends one plain TCP flow through it, and compares
/api/v1/edges, its history, /metrics, the live stream and `braid edges`. Prints what was told; ends with 1 at the first that is not so
before the transfer ends: edges measure their paths first, and on a busy machine again.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from testbed import Lab, wait_until  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
SCENARIO = ROOT / "scenarios" / "mpsdn-unequal.yaml"
# Of each path, by its rate: Mbit/s, and the least round trip in microseconds.
PATHS = {20_000: 50, 60_000: 100}
SECONDS = 60


def check(what, holds, seen):
    print(f"{'ok' if holds else 'FAILED'}: {what}: {seen}", flush=True)
    if not holds:
        sys.exit(1)


def settle(what, until):
    """Checks once a second until all conditions of `what` hold; a condition after a false one is not evaluated."""
    while (told := list(upto_failure(what())))[-1][1] is False and time.monotonic() < until:
        time.sleep(1)
    for line in told:
        check(*line)


def upto_failure(lines):
    for what, holds, seen in lines:
        yield what, bool(holds), seen
        if not holds:
            return


def near(value, wanted, by):
    return value is not None and abs(value - wanted) <= by * wanted


class Controller:
    def __init__(self, lab):
        self.http = json.loads(lab.run("lab", "inspect", lab.name, "--json"))["controller"]["http"]

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.http}{path}", timeout=10) as answer:
            return answer.read().decode()

    def list(self, name):
        return json.loads(self.get(f"/api/v1/{name}"))[name]

    def snapshot(self):
        with urllib.request.urlopen(f"http://{self.http}/api/v1/stream", timeout=10) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    return json.loads(line[6:])


def sprayed(edges):
    """The path of each rate, of the edge that sprays most."""
    groups = [group for edge in edges for group in edge["spray_groups"]]
    group = max(groups, key=lambda it: sum(path["carried_bps"] or 0 for path in it["paths"]))
    paths = sorted(group["paths"], key=lambda it: it["round_trip_us"] or 0)
    return group, dict(zip(PATHS.values(), paths))


def of_paths(edges):
    yield "an edge sprays", any(edge["spray_groups"] for edge in edges), [edge["dpid"] for edge in edges]
    group, paths = sprayed(edges)
    yield "there are two paths, both of which are active", [it["state"] for it in paths.values()] == ["active"] * 2, group["to"]
    shares = {rate: path["share"] for rate, path in paths.items()}
    yield "their shares are all", near(sum(shares.values()), 1, 0.001), shares
    yield "they are in proportion to the rates", near(shares[100], 2 / 3, 0.15), shares[100]
    trips = [path["round_trip_us"] or 0 for path in paths.values()]
    yield "round trips are those of the links", all(least <= trip < least + 400_000 for least, trip in zip(PATHS, trips)), trips
    carried = sum(path["carried_bps"] or 0 for path in paths.values()) / 1e6
    yield "they carry what iperf3 sends", 100 < carried < 160, f"{carried:.0f} Mbit/s"
    found = {rate: path["estimated_capacity_bps"] for rate, path in paths.items()}
    yield "a path that was full was found to carry its rate", any(found.values()), found
    yield "what each was found to carry is its rate", all(near(bps, rate * 1e6, 0.15) for rate, bps in found.items() if bps), found
    yield "paths differ by their ports", len({json.dumps(it["ports"]) for it in paths.values()}) == 2, paths[50]["ports"]


def of_orders(edges):
    resequencers = [it for edge in edges for it in edge["resequencers"] if it["counters"]]
    yield "an edge resequences", resequencers, len(resequencers)
    resequencer = max(resequencers, key=lambda it: it["counters"]["held"])
    held, hold_time, counters = resequencer["held"], resequencer["hold_time"], resequencer["counters"]
    yield "packets waited, and gaps closed", counters["held"] > 1000 and counters["gaps_filled"] > 10, counters
    yield "few gaps were given up too soon", counters["spurious"] < counters["held"] / 100, counters["spurious"]
    times = [hold_time[name] or 0 for name in ("p50_us", "p99_us", "max_us")]
    yield "the times held are in order and bounded", 0 < times[0] <= times[1] <= times[2] < held["max_hold_us"] + 400_000, times
    yield "what is held is within what may be", held["bytes"] <= held["max_bytes"] and held["packets"] <= held["max_packets"], held


def check_elsewhere(controller, lab, edges):
    dpid = next(edge["dpid"] for edge in edges if edge["spray_groups"])
    history = json.loads(controller.get(f"/api/v1/edges/history?dpid={dpid}"))
    shares = history["spray_groups"][0]["paths"][0]["share"]
    check("the history has a value for each second", sum(it is not None for it in shares) > 5 and len(shares) == len(history["times"]), shares[-5:])
    metrics = controller.get("/metrics").splitlines()
    samples = {line.split("{")[0] for line in metrics if line.startswith("braid_edge_")}
    described = {line.split()[2] for line in metrics if line.startswith("# TYPE braid_edge_")}
    missing = [it for it in described if not any(name.startswith(it) for name in samples)]
    check("every metric of edges has a sample", len(described) > 15 and not missing, missing or sorted(described))
    snapshot = controller.snapshot()
    check("the live stream has the edges", [it["dpid"] for it in snapshot["edges"]] == [it["dpid"] for it in edges], len(snapshot["edges"]))
    table = subprocess.run([lab.braid, "edges", "--controller", f"http://{controller.http}"], check=True, capture_output=True, text=True).stdout
    print(table)
    check("the command lists paths and buffers", "SHARE" in table and "HOLD P50" in table, len(table.splitlines()))


def main():
    braid = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "braid"
    with Lab(braid, f"telemetry-{os.getpid()}") as lab:
        lab.run("lab", "deploy", str(SCENARIO), "--name", lab.name)
        controller = Controller(lab)
        wait_until("the edges have answered", lambda: all(it["answered_at"] for it in controller.list("edges")))
        edges = controller.list("edges")
        check("two edges are there, and spray nothing yet", [it["spray_groups"] for it in edges] == [[], []], [it["dpid"] for it in edges])
        lab.inside("right", "iperf3", "--server")
        time.sleep(1)
        lab.inside("left", "iperf3", "--client", "10.0.0.2", "--time", str(SECONDS))
        end = time.monotonic() + SECONDS * 0.8
        time.sleep(SECONDS / 6)
        settle(lambda: of_paths(controller.list("edges")), end)
        settle(lambda: of_orders(controller.list("edges")), end)
        edges = controller.list("edges")
        check_elsewhere(controller, lab, edges)


if __name__ == "__main__":
    main()
