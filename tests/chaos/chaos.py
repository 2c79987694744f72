#!/usr/bin/python3
"""Breaks links, switches and the controller of a lab at random, and looks after each fault whether all is well.

    chaos.py [--braid PROGRAM] [--seconds N] [--seed N]

Well is: every pair of hosts that is joined by whole links reaches each other, no answer comes twice, and nothing goes
round in circles. Needs root. The seed is printed; the same seed gives the same faults. Exit code 5 if all was not well 15 s
after a fault.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from testbed import OPENFLOW, TRAFFIC, Lab, bring_up, controller  # noqa: E402

HOSTS = {"alpha": 1, "beta": 2, "gamma": 3, "delta": 4, "probe": 5, "echo": 6}
# What drops every frame and leaves the carrier.
SWALLOW = "tbf rate 8bit burst 16 limit 16"
MOST_BROKEN = 8
TIMEOUT = 15
# Many times the traffic of pings and discovery; a forwarding loop causes more.
STORM = 20_000


class Chaos:
    def __init__(self, lab, seed, log):
        self.lab, self.log, self.random = lab, log, random.Random(seed)
        inspection = lab.deploy()
        self.switches = [switch["name"] for switch in inspection["switches"]]
        self.cables, self.at = {}, {}
        for link in inspection["links"]:
            ends = sorted(link["ends"], key=lambda end: "port" not in end)
            names = tuple(end["name"] for end in ends)
            if "port" in ends[1]:
                self.cables[names] = [end["device"] for end in ends]
            else:
                self.at[names[1].split(".")[0]] = names[0]
        self.broken = {}
        self.controller = bring_up(lab, self.switches, log)
        self.helper = lab.inside(None, "python3", TRAFFIC, "cables", stdin=subprocess.PIPE)
        self.helper.stdout.readline()

    def carrier(self, cable, state):
        print(state, *self.cables[cable], file=self.helper.stdin, flush=True)
        self.helper.stdout.readline()

    def cut(self):
        cable = self.random.choice(sorted(set(self.cables) - set(self.broken)))
        self.broken[cable] = "cut"
        self.carrier(cable, "down")
        return f"{' - '.join(cable)} is cut"

    def swallow(self):
        cable = self.random.choice(sorted(set(self.cables) - set(self.broken)))
        self.broken[cable] = "swallows"
        for device in self.cables[cable]:
            self.lab.ovs("tc", "qdisc", "replace", "dev", device, "root", *SWALLOW.split())
        return f"{' - '.join(cable)} swallows every frame"

    def mend(self):
        cable = self.random.choice(sorted(self.broken))
        if self.broken.pop(cable) == "cut":
            self.carrier(cable, "up")
        else:
            self.lab.run("lab", "link", "set", self.lab.name, *cable, "--rate", "100Mbit")
        return f"{' - '.join(cable)} is mended"

    def disconnect(self):
        switch = self.random.choice(self.switches)
        self.lab.ovs("ovs-vsctl", "del-controller", switch)
        time.sleep(self.random.random() * 3)
        self.lab.ovs(
            "ovs-vsctl", "set-controller", switch, f"tcp:{OPENFLOW}",
            "--", "set", "controller", switch, "max_backoff=1000", "connection_mode=out-of-band",
        )
        return f"the channel of {switch} breaks"

    def forget(self):
        switch = self.random.choice(self.switches)
        self.lab.ovs("ovs-vsctl", "del-controller", switch)
        self.lab.ovs("ovs-ofctl", "-O", "OpenFlow13", "del-flows", switch)
        self.lab.ovs("ovs-ofctl", "-O", "OpenFlow13", "del-groups", switch)
        self.lab.ovs(
            "ovs-vsctl", "set-controller", switch, f"tcp:{OPENFLOW}",
            "--", "set", "controller", switch, "max_backoff=1000", "connection_mode=out-of-band",
        )
        return f"{switch} loses its rules"

    def restart(self):
        os.kill(self.controller.pid, signal.SIGKILL)
        self.controller.wait()
        time.sleep(self.random.random() * 3)
        self.controller = controller(self.lab, self.log)
        return "the controller is killed and started again"

    def fault(self):
        faults = [self.disconnect, self.forget, self.restart]
        if len(self.broken) < MOST_BROKEN:
            faults += [self.cut] * 4 + [self.swallow] * 2
        if self.broken:
            faults += [self.mend] * 4
        return self.random.choice(faults)()

    def joined(self):
        """The switches of each part of the network."""
        part = {switch: switch for switch in self.switches}

        def root(switch):
            while part[switch] != switch:
                switch = part[switch]
            return switch

        for a, b in set(self.cables) - set(self.broken):
            part[root(a)] = root(b)
        return {switch: root(switch) for switch in self.switches}

    def troubles(self):
        """What is not well: pairs that do not reach each other, answers that come twice, storms."""
        parts, asked = self.joined(), []
        for host in HOSTS:
            peers = [peer for peer in HOSTS if peer != host and parts[self.at[peer]] == parts[self.at[host]]]
            command = "; ".join(f"ping -n -q -c1 -W1 10.0.0.{HOSTS[peer]}" for peer in peers) or "true"
            asked.append((host, peers, self.lab.inside(host, "sh", "-c", command)))
        for host, peers, process in asked:
            text = process.communicate()[0]
            answers = [line for line in text.splitlines() if "packets transmitted" in line]
            for peer, line in zip(peers, answers):
                if " 1 received" not in line or "duplicates" in line:
                    yield f"{host} > {peer}: {line}"
        self.lab.running = [process for process in self.lab.running if process.poll() is None]
        before = self.packets()
        time.sleep(1)
        if (rate := self.packets() - before) > STORM:
            yield f"{rate} packets a second"

    def packets(self):
        lines = self.lab.ovs("cat", "/proc/net/dev").splitlines()[2:]
        return sum(int(line.split(":")[1].split()[1]) for line in lines)

    def is_well(self):
        """How long it took, or `None` and what was wrong."""
        begun = time.monotonic()
        while found := list(self.troubles()):
            if time.monotonic() - begun > TIMEOUT:
                return None, found
        return time.monotonic() - begun, []


def run(lab, arguments, log):
    print(f"seed {arguments.seed}", file=sys.stderr)
    chaos = Chaos(lab, arguments.seed, log)
    end, slowest, faults = time.monotonic() + arguments.seconds, 0.0, 0
    wrong, what = [], "nothing yet"
    while time.monotonic() < end and not wrong:
        took, wrong = chaos.is_well()
        slowest = max(slowest, took or 0.0)
        print(f"{what}: {f'well after {took:.1f} s' if took is not None else wrong}", file=sys.stderr)
        if not wrong:
            what, faults = chaos.fault(), faults + 1
    result = {"schema": "braid/v1", "seed": arguments.seed, "faults": faults, "slowest_seconds": round(slowest, 1)}
    print(json.dumps(result | {"wrong": wrong, "ok": not wrong}))
    return 5 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--log", default="/dev/null", help="what the controllers say")
    arguments = parser.parse_args()
    with Lab(arguments.braid, "chaos-check") as lab, open(arguments.log, "w") as log:
        sys.exit(run(lab, arguments, log))


if __name__ == "__main__":
    main()
