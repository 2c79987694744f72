#!/usr/bin/python3
"""Floods a network from one host, and measures how long others take to open connections.

    flood.py [--braid PROGRAM] [--kind KIND] [--rate PER_SECOND] [--seconds SECONDS] [--json] [-- CONTROLLER OPTION...]

A FatTree of 20 switches and 16 hosts on Open vSwitch with 100 streams. KIND: mptcp, syn, arp, scan, spoof, lldp (see
load.py). Needs root. Exit code 5 if a connection of another host was not set up in time, or a switch was lost.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOAD = str(HERE / "load.py")
STREAMS = str(HERE.parent / "traffic.py")
LAB = "flood-check"
OPENFLOW = "127.0.0.1:6653"
HOSTS = 16
CABLES = 32
FLOODER = 1
# (from, to, connections): the load under which all this happens.
LOADED = [(5, 12, 50), (9, 16, 50)]
# Who opens connections, to whom; host 2 is at the flooder's switch, 3 in its pod.
PROBING = {2: [3, 7, 13], 3: [2, 8, 14], 6: [2, 10, 15], 11: [3, 7, 15], 14: [2, 6, 10]}
PROBES_PER_SECOND = 20
# To whom the flood goes.
FLOODED = [4, 8, 12, 16]
REACH = 0.1


def address(host):
    return f"10.0.0.{host}"


def fat_tree():
    """A scenario of a FatTree with switches of four ports; host numbers run from pod to pod."""
    hosts, links = [], []
    switches = [f"c{number}" for number in range(4)]
    for pod in range(4):
        switches += [f"p{pod}{kind}{number}" for kind in "ae" for number in range(2)]
        for number in range(2):
            links += [(f"p{pod}a{number}", f"c{2 * number + core}") for core in range(2)]
            links += [(f"p{pod}e{number}", f"p{pod}a{upper}") for upper in range(2)]
    for host in range(1, HOSTS + 1):
        pod, edge = (host - 1) // 4, (host - 1) % 4 // 2
        interface = {"name": "eth0", "addresses": [f"{address(host)}/24"]}
        hosts.append({"name": f"h{host}", "interfaces": [interface], "congestion_control": "reno"})
        links.append((f"h{host}.eth0", f"p{pod}e{edge}"))
    traffic = {"tool": "iperf3", "modes": ["tcp"], "directions": [{"from": "h1", "to": "h2"}], "duration": "5s"}
    links = [{"between": list(ends), "rate": "1Gbit"} for ends in links]
    topology = {"hosts": hosts, "switches": switches, "links": links}
    return {"scenario": "flood", "description": "One host floods it.", "topology": topology, "traffic": traffic}


class Lab:
    def __init__(self, braid):
        self.braid, self.running = braid, []

    def run(self, *command):
        return subprocess.run([self.braid, *command], check=True, capture_output=True, text=True).stdout

    def inside(self, host, *command, **more):
        """Starts a command on a host, or without one where the switches are, and waits for its first line."""
        where = [host] if host else []
        process = subprocess.Popen(
            [self.braid, "lab", "exec", LAB, *where, "--", *command], stdout=subprocess.PIPE, text=True, **more
        )
        self.running.append(process)
        process.stdout.readline()
        return process

    def on(self, host, *command):
        return self.inside(f"h{host}", "python3", *map(str, command))

    def ovs(self, *command):
        return self.run("lab", "exec", LAB, "--", *command)

    def api(self, resource):
        return json.loads(self.ovs(self.braid, resource, "--json"))[resource]

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=30)[0]

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run([self.braid, "lab", "destroy", LAB], check=False)


def bring_up(lab, options, log):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scenario:
        json.dump(fat_tree(), scenario)
        scenario.flush()
        inspection = lab.run("lab", "deploy", scenario.name, "--name", LAB, "--no-controller", "--json")
    command = ["controller", "run", "--openflow", OPENFLOW, *options]
    controller = lab.inside(None, lab.braid, *command, stderr=log)
    for switch in json.loads(inspection)["switches"]:
        name = switch["name"]
        lab.ovs(
            "ovs-vsctl", "set-controller", name, f"tcp:{OPENFLOW}",
            "--", "set", "controller", name, "max_backoff=1000", "connection_mode=out-of-band",
        )
    patience = time.monotonic() + 60
    while len(lab.api("links")) < 2 * CABLES:
        if time.monotonic() > patience:
            sys.exit("not all links are found after a minute")
        time.sleep(0.5)
    # Ports of hosts are taken for such a moment later.
    time.sleep(3)
    return controller


def start_load(lab):
    for host in range(1, HOSTS + 1):
        lab.on(host, LOAD, "serve")
    for src, dst, count in LOADED:
        lab.on(dst, STREAMS, "serve")
        streams = lab.on(src, STREAMS, "streams", address(dst), count, 2_000, 0.5)
        for _ in range(count - 1):
            streams.stdout.readline()


def measure(lab, seconds, flood=None):
    """How long the set-ups of `seconds` took, and what the flood was."""
    probing = [
        lab.on(host, LOAD, "connect", PROBES_PER_SECOND, *map(address, others)) for host, others in PROBING.items()
    ]
    if flood:
        flooding = lab.on(FLOODER, LOAD, "flood", *flood, seconds, *map(address, FLOODED))
        told = json.loads(flooding.communicate(timeout=seconds + 60)[0].splitlines()[-1])
    else:
        time.sleep(seconds)
        told = None
    took = [took for process in probing for _, took in json.loads(lab.stop(process).splitlines()[-1])]
    return summary(took), told


def summary(took):
    done = sorted(one for one in took if one is not None)

    def at(share):
        return round(1000 * done[min(int(share * len(done)), len(done) - 1)], 2) if done else None

    return {
        "connections": len(took), "failed": len(took) - len(done),
        "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1),
    }  # fmt: skip


def counters(lab):
    text = lab.ovs("curl", "-s", "http://127.0.0.1:8653/metrics")
    pairs = (line.split(" ") for line in text.splitlines() if not line.startswith("#") and "{" not in line)
    return {name: float(value) for name, value in pairs}


def check(lab, arguments, log):
    bring_up(lab, arguments.options, log)
    start_load(lab)
    measure(lab, 3)
    quiet, _ = measure(lab, arguments.quiet)
    before = counters(lab)
    flooded, flood = measure(lab, arguments.seconds, (arguments.kind, arguments.rate))
    after = counters(lab)
    after_flood, _ = measure(lab, arguments.quiet)
    lost = Path(arguments.log).read_text().count("switch disconnected")

    def grown(name):
        return int(after[f"braid_{name}_total"] - before[f"braid_{name}_total"])

    return {
        "schema": "braid/v1",
        "kind": arguments.kind,
        "options": arguments.options,
        "streams": int(before["braid_streams"]),
        "flood": flood,
        "quiet": quiet,
        "flooded": flooded,
        "after": after_flood,
        "packet_ins_per_second": round(grown("packet_ins") / arguments.seconds),
        "over_limit_per_second": round(grown("packets_over_limit") / arguments.seconds),
        "lldp_refused": grown("lldp_refused"),
        "alarms": [alarm["text"] for alarm in lab.api("alarms")],
        "links": int(after["braid_links"]),
        "switches_lost": lost,
    }


def show(result):
    print(f"flood: {result['kind']}, {result['flood']['rate']} a second; {result['streams']} streams")
    print(f"{'':9}{'set up':>8}{'failed':>8}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    for when in ("quiet", "flooded", "after"):
        row = result[when]
        print(f"{when:9}" + "".join(f"{row[key]!s:>{width}}" for key, width in (
            ("connections", 8), ("failed", 8), ("p50_ms", 9), ("p99_ms", 9), ("max_ms", 9))))  # fmt: skip
    print(f"packets that reached the controller: {result['packet_ins_per_second']} a second, "
          f"of which it dropped {result['over_limit_per_second']}")  # fmt: skip
    print(f"switches lost: {result['switches_lost']}; alarms: {'; '.join(result['alarms']) or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--kind", default="mptcp")
    parser.add_argument("--rate", type=float, default=10_000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--quiet", type=float, default=10, help="seconds measured before and after")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", default=f"/tmp/{LAB}.log", help="what the controller says")
    parser.add_argument("options", nargs="*", help="options of the controller, after --")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lab = Lab(arguments.braid)
    try:
        with open(arguments.log, "w") as log:
            result = check(lab, arguments, log)
    finally:
        lab.end()
    print(json.dumps(result)) if arguments.json else show(result)
    late = result["flooded"]["failed"] or result["flooded"]["p99_ms"] > 1000 * REACH
    sys.exit(5 if late or result["switches_lost"] or result["links"] != 2 * CABLES else 0)


if __name__ == "__main__":
    main()
