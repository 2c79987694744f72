#!/usr/bin/python3
"""Kills the controller while streams run, starts it again, and counts what was lost and what was written.

    restart.py [--braid PROGRAM] [--away SECONDS] [--probes PER_SECOND]

Needs root. Prints one line of JSON; exit code 5 if a probe was lost, a stream broke, or a rule was written again.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIO = HERE.parent.parent / "scenarios" / "restart.yaml"
TRAFFIC = str(HERE / "traffic.py")
LAB = "restart-check"
OPENFLOW = "127.0.0.1:6653"
# (from, to, connections, bytes in a burst, seconds between bursts)
STREAMS = [
    ("alpha", "10.0.0.2", 20, 150_000, 1.0),
    ("gamma", "10.0.0.4", 30, 2_000, 0.5),
    ("delta", "10.0.0.3", 30, 2_000, 0.5),
]
ADDRESS = {"echo": "10.0.0.6"}


class Lab:
    def __init__(self, braid):
        self.braid = braid
        self.running = []

    def run(self, *command):
        return subprocess.run([self.braid, *command], check=True, capture_output=True, text=True).stdout

    def inside(self, host, *command):
        """Starts a command on a host, or without one where the switches are."""
        where = [host] if host else []
        process = subprocess.Popen(
            [self.braid, "lab", "exec", LAB, *where, "--", *command], stdout=subprocess.PIPE, text=True
        )
        self.running.append(process)
        return process

    def ovs(self, *command):
        return self.run("lab", "exec", LAB, "--", *command)

    def flows(self, switch):
        """The rules of a switch without what is counted, each with the time when it was written."""
        text = self.ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-flows", switch)
        rules = {}
        for line in text.splitlines():
            if age := re.search(r"duration=([\d.]+)s, ", line):
                rule = re.sub(r"(duration|n_packets|n_bytes)=[^ ]+ ", "", line).strip()
                rules[rule] = time.time() - float(age[1])
        return rules

    def groups(self, switch):
        text = self.ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-groups", switch)
        return sorted(line.strip() for line in text.splitlines() if "group_id" in line)

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=20)[0]

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run([self.braid, "lab", "destroy", LAB], check=False)


def controller(lab, log):
    process = subprocess.Popen(
        [lab.braid, "lab", "exec", LAB, "--", lab.braid, "controller", "run", "--openflow", OPENFLOW],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    lab.running.append(process)
    process.stdout.readline()
    return process


def api(lab, resource):
    return json.loads(lab.ovs(lab.braid, resource, "--json"))[resource]


def wait_until(what, done, patience=60):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            sys.exit(f"still not so after {patience} s: {what}")
        time.sleep(0.5)


def streams_of(lab):
    paths = {}
    for transfer in api(lab, "transfers"):
        for stream in transfer["streams"]:
            key = (stream["src"], stream["src_port"], stream["dst"], stream["dst_port"])
            paths[key] = stream["path"]
    return paths


def bring_up(lab, switches, log):
    first = controller(lab, log)
    for switch in switches:
        lab.ovs(
            "ovs-vsctl", "set-controller", switch, f"tcp:{OPENFLOW}",
            "--", "set", "controller", switch, "max_backoff=1000", "connection_mode=out-of-band",
        )
    wait_until("all links are known", lambda: len(api(lab, "links")) == 62)
    time.sleep(3)
    return first


def start_traffic(lab, probes):
    servers = [lab.inside(host, "python3", TRAFFIC, "serve") for host in ("beta", "gamma", "delta", "echo")]
    for server in servers:
        server.stdout.readline()
    streams = []
    for host, to, count, burst, pause in STREAMS:
        process = lab.inside(host, "python3", TRAFFIC, "streams", to, str(count), str(burst), str(pause))
        streams.append(process)
        for _ in range(count):
            process.stdout.readline()
    probe = lab.inside("probe", "python3", TRAFFIC, "probe", ADDRESS["echo"], str(probes))
    probe.stdout.readline()
    return streams, probe


def compare(before, after):
    """Rules that were written again, that are new, and that are gone."""
    rewritten = [rule for rule, written in after.items() if rule in before and written > before[rule] + 5]
    new = [rule for rule in after if rule not in before]
    return rewritten, new, [rule for rule in before if rule not in after]


def check(lab, arguments, log):
    inspection = json.loads(lab.run("lab", "deploy", str(SCENARIO), "--name", LAB, "--no-controller", "--json"))
    switches = [switch["name"] for switch in inspection["switches"]]
    running = bring_up(lab, switches, log)
    streams, probe = start_traffic(lab, arguments.probes)
    time.sleep(5)
    paths = streams_of(lab)
    before = {switch: (lab.flows(switch), lab.groups(switch)) for switch in switches}
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    killed = time.time()
    time.sleep(arguments.away)
    controller(lab, log)
    started = time.time()
    wait_until("all links are known again", lambda: len(api(lab, "links")) == 62)
    time.sleep(15)
    after = {switch: (lab.flows(switch), lab.groups(switch)) for switch in switches}
    compared = [compare(before[switch][0], after[switch][0]) for switch in switches]
    same_paths = streams_of(lab) == paths
    told = json.loads(lab.stop(probe).splitlines()[-1])
    ended = [json.loads(lab.stop(process).splitlines()[-1]) for process in streams]
    result = {
        "schema": "braid/v1",
        "switches": len(switches),
        "streams": len(paths),
        "rules": sum(len(flows) for flows, _ in after.values()),
        "away_seconds": round(started - killed, 1),
        "probes": {key: told[key] for key in ("sent", "lost", "twice")},
        "lost_at": [round(at - killed, 2) for at in told["lost_at"]],
        "streams_broken": [failure for end in ended for failure in end["failed"]],
        "bytes": sum(sum(end["bytes"]) for end in ended),
        "rules_rewritten": sum(len(rewritten) for rewritten, _, _ in compared),
        "rules_new": sum(len(new) for _, new, _ in compared),
        "rules_gone": sum(len(gone) for _, _, gone in compared),
        "groups_changed": sum(before[switch][1] != after[switch][1] for switch in switches),
        "same_paths": same_paths,
    }
    print(json.dumps(result))
    written = result["rules_rewritten"] + result["rules_new"] + result["rules_gone"] + result["groups_changed"]
    clean = same_paths and not (told["lost"] or told["twice"] or result["streams_broken"] or written)
    return 0 if clean else 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--away", type=float, default=60)
    parser.add_argument("--probes", type=int, default=1000)
    parser.add_argument("--log", default="/dev/null", help="what the controllers say")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lab = Lab(arguments.braid)
    try:
        with open(arguments.log, "w") as log:
            sys.exit(check(lab, arguments, log))
    finally:
        lab.end()


if __name__ == "__main__":
    main()
