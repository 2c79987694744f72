#!/usr/bin/python3
"""Lets links go dark without a port event, and measures for how long flows over them stand still.

    silent.py [--braid PROGRAM] [--cuts N] [--alone N] [--ovsdb] [--rto-min MS] [--json] [--log FILE]

Needs root. Frames are dropped in both directions or in one, while every carrier stays up. A datagram probe, a plain TCP
connection and an MPTCP connection send at 1 kHz and are answered; the longest time without an answer is the outage.
The controller uses one path of several equal ones, so that each flow takes the links that are cut.
With --ovsdb, it turns on BFD in the lab's database, and --alone cuts links after it was killed. --rto-min sets the least
retransmission timeout of the hosts, which is 200 ms in Linux; kernels before 6.11 cannot change it.
Exit code 5 if a target is not reached; without --ovsdb there is none.
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
from repair import SWALLOW, Cables, gap, percentile, probe_way  # noqa: E402
from testbed import LINKS, TRAFFIC, Lab, api, bring_up, wait_until  # noqa: E402

# Milliseconds, at p50 and p99.
TARGETS = (100, 150)
# What each flow is, from where, to where.
FLOWS = {
    "datagrams": ("probe", "10.0.0.6", None),
    "tcp": ("probe", "10.0.0.6", "tcp"),
    "mptcp": ("alpha", "10.0.0.2", "mptcp"),
}


def database(lab):
    folder = lab.ovs("printenv", "OVS_RUNDIR").strip()
    return f"unix:{folder}/db.sock"


def bfd_up(lab):
    text = lab.ovs("ovs-vsctl", "--format=json", "--columns=bfd_status", "list", "interface")
    return sum(["state", "up"] in row[0][1] for row in json.loads(text)["data"])


def wait_for_calm(lab, seconds=8):
    """Until all links have been known for some seconds: where cores are short, BFD first finds its interval."""
    end, calm_since = time.monotonic() + 150, time.monotonic()
    while time.monotonic() - calm_since < seconds:
        if len(api(lab, "links")) != LINKS:
            calm_since = time.monotonic()
        if time.monotonic() > end:
            sys.exit("links come and go without a cut: the machine is too busy")
        time.sleep(0.5)


def set_rto_min(lab, milliseconds):
    for host in {name for flow in FLOWS.values() for name in (flow[0], "beta", "echo")}:
        lab.run("lab", "exec", lab.name, host, "--", "sysctl", "-q", "-w", f"net.ipv4.tcp_rto_min_us={milliseconds * 1000}")


def start_flows(lab, folder):
    for host in ("beta", "echo"):
        lab.inside(host, "python3", TRAFFIC, "serve").stdout.readline()
    running, files = [], {}
    for name, (host, to, kind) in FLOWS.items():
        files[name] = str(Path(folder) / name)
        what = ["flow", to, "1000", kind] if kind else ["probe", to, "1000"]
        process = lab.inside(host, "python3", TRAFFIC, *what, files[name])
        process.stdout.readline()
        running.append(process)
    return running, files


def darken(lab, cables, cable, one_way):
    """Drops all frames of a cable, or those in one direction."""
    before = time.time()
    for device in cables.devices[cable][: 1 if one_way else 2]:
        lab.ovs("tc", "qdisc", "replace", "dev", device, "root", *SWALLOW.split())
    cables.last_cut[cable] = before
    return before


def way_of_mptcp(lab, names):
    """The links of the MPTCP connection's first subflow."""
    for transfer in api(lab, "transfers"):
        if transfer["kind"] == "mptcp":
            path = [names[dpid] for dpid in transfer["streams"][0]["path"]]
            return [frozenset(pair) for pair in zip(path, path[1:])]
    return []


def ways_of(lab, names):
    return probe_way(lab, names), way_of_mptcp(lab, names)


def cut(lab, cables, names, count, ways=None):
    """(time, flows that were cut) of each. Without a controller, `ways` are those that it last used."""
    cuts = []
    for number in range(count):
        of_probe, of_mptcp = ways or ways_of(lab, names)
        way = of_mptcp if number % 3 == 2 and of_mptcp else of_probe
        cable = cables.longest_whole(way)
        at = darken(lab, cables, cable, one_way=number % 2 == 1)
        time.sleep(4)
        cables.mend(cable)
        if ways:
            time.sleep(6)
        else:
            wait_for_calm(lab, 3)
        cuts.append((at, [name for name in FLOWS if cable in (of_mptcp if name == "mptcp" else of_probe)]))
        print(f"cut {number + 1} of {count}: {' - '.join(sorted(cable))}", file=sys.stderr)
    return cuts


def outages(cuts, files):
    figures = {}
    for name, file in files.items():
        arrivals = sorted(back for _, back in json.loads(Path(file).read_text()) if back)
        gaps = [gap(arrivals, at, 3.9) for at, flows in cuts if name in flows]
        quiet = [gap(arrivals, at - 0.6, 0.5) for at, _ in cuts]
        figures[name] = {
            "cuts": len(gaps),
            "p50_ms": round(percentile(gaps, 0.5), 1),
            "p99_ms": round(percentile(gaps, 0.99), 1),
            "without_cut_p50_ms": round(percentile(quiet, 0.5), 1),
            "without_cut_max_ms": round(max(quiet, default=0), 1),
        }
    return figures


def is_reached(result, targets=TARGETS):
    found = [it for part in ("outages", "outages_without_controller") for it in result.get(part, {}).values()]
    return all(it["p50_ms"] <= targets[0] and it["p99_ms"] <= targets[1] for it in found if it["cuts"])


def measure(lab, arguments, log):
    inspection = lab.deploy()
    switches = [switch["name"] for switch in inspection["switches"]]
    names = {switch["name"]: switch["dpid"] for switch in inspection["switches"]}
    names |= {dpid: name for name, dpid in names.items()}
    options = ["--ecmp", "off"] + (["--ovsdb", database(lab)] if arguments.ovsdb else [])
    if arguments.rto_min:
        set_rto_min(lab, arguments.rto_min)
    controller = bring_up(lab, switches, log, *options)
    if arguments.ovsdb:
        begun = time.monotonic()
        wait_until("BFD is up everywhere", lambda: bfd_up(lab) == LINKS, 240)
        print(f"BFD came up on {LINKS} ports in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        wait_for_calm(lab)
    with tempfile.TemporaryDirectory() as folder:
        running, files = start_flows(lab, folder)
        wait_for_calm(lab)
        cables = Cables(lab, inspection)
        cuts = cut(lab, cables, names, arguments.cuts)
        alone = []
        if arguments.alone:
            ways = ways_of(lab, names)
            os.kill(controller.pid, signal.SIGKILL)
            controller.wait()
            alone = cut(lab, cables, names, arguments.alone, ways)
        for process in running:
            print(lab.stop(process, 90).strip()[:200], file=sys.stderr)
        result = {"schema": "braid/v1", "bfd": arguments.ovsdb, "rto_min_ms": arguments.rto_min, "outages": outages(cuts, files)}
        if alone:
            result["outages_without_controller"] = outages(alone, files)
    return result | {"ok": is_reached(result) or not arguments.ovsdb}


def table(result):
    for part in ("outages", "outages_without_controller"):
        for name, it in result.get(part, {}).items():
            yield (
                f"{part.replace('_', ' '):<28} {name:<10} {it['cuts']:>3} cuts   p50 {it['p50_ms']:>7} ms   p99 {it['p99_ms']:>7} ms"
                f"   (without a cut {it['without_cut_p50_ms']}, {it['without_cut_max_ms']} ms)"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--alone", type=int, default=0, help="cuts after the controller was killed")
    parser.add_argument("--ovsdb", action="store_true", help="let the controller turn on BFD")
    parser.add_argument("--rto-min", type=int, help="the hosts' least retransmission timeout, in milliseconds")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", default="/dev/null", help="what the controller says")
    arguments = parser.parse_args()
    with Lab(arguments.braid, "silent-check") as lab, open(arguments.log, "w") as log:
        result = measure(lab, arguments, log)
    print(json.dumps(result) if arguments.json else "\n".join(table(result)))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
