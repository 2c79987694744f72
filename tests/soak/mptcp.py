#!/usr/bin/env python3
"""Starts MPTCP transfers by the thousand, eight at once, in a lab of two paths, and looks for those that stand still for good:
15 s for 1.5 MB. Prints how many there were, how long transfers took, and how full receive buffers were, as JSON; keeps the
state of the sockets of a transfer that stands still. Exit code 1 if there was one. Needs root."""

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

PAIRS = 8
PATIENCE = 15
STATE = "ss --tcp --mptcp --numeric --info --memory"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--braid", default="target/release/braid", help="the command")
parser.add_argument("--seconds", type=float, default=300, help="how long transfers are started")
parser.add_argument("--receive-buffer", type=int, help="bytes that receive buffers start with, instead of the lab's")
parser.add_argument("--output", default=".", help="the folder for the states of sockets")
options = parser.parse_args()
LAB = f"soak-{os.getpid()}"


def scenario():
    """Pairs of hosts with two subflows more than the first, both ends configured alike."""
    hosts, links = [], []
    for pair in range(1, PAIRS + 1):
        for side, number, switch in (("a", 1, "west"), ("b", 2, "east")):
            addresses = [f"fd00:{pair}::{part}{number}" for part in ("", "1", "2")]
            endpoints = [{"address": address, "flags": ["subflow"]} for address in addresses[1:]]
            interface = {"name": "eth0", "addresses": [f"{address}/64" for address in addresses]}
            mptcp = {"subflows": 2, "endpoints": endpoints}
            host = {"name": f"{side}{pair}", "interfaces": [interface], "congestion_control": "reno", "mptcp": mptcp}
            hosts.append(host)
            links.append({"between": [f"{side}{pair}.eth0", switch], "rate": "100Mbit"})
    ends = [(end, middle) for middle in ("north", "south") for end in ("west", "east")]
    links += [{"between": list(pair), "rate": "80Mbit"} for pair in ends]
    topology = {"hosts": hosts, "switches": ["west", "north", "south", "east"], "links": links}
    traffic = {"tool": "iperf3", "modes": ["mptcp"], "directions": [{"from": "a1", "to": "b1"}], "duration": "2s"}
    return {"scenario": "soak", "description": "Short transfers.", "topology": topology, "traffic": traffic}


def braid(*arguments):
    subprocess.run([options.braid, *arguments], check=True, stdout=subprocess.DEVNULL)


def on(host, *command):
    return ["nsenter", f"--net=/run/netns/bl-{LAB}.{host}", *command]


def output(host, command):
    return subprocess.run(on(host, "sh", "-c", command), capture_output=True, text=True).stdout


class Transfers:
    """The transfers of one pair of hosts, one after another."""

    def __init__(self, pair):
        self.pair, self.took, self.stalled = pair, [], 0

    def run(self, end):
        if options.receive_buffer is not None:
            output(f"b{self.pair}", f"sysctl -qw net.ipv4.tcp_rmem='4096 {options.receive_buffer}'")
        while time.monotonic() < end:
            self.transfer()

    def transfer(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        iperf3 = ["mptcpize", "run", "iperf3"]
        server = subprocess.Popen(on(f"b{self.pair}", *iperf3, "-s", "-1"), **quiet)
        time.sleep(0.2)
        start = time.monotonic()
        client = subprocess.Popen(on(f"a{self.pair}", *iperf3, "-c", f"fd00:{self.pair}::2", "-n", "1500K"), **quiet)
        try:
            client.wait(timeout=PATIENCE)
            self.took.append(time.monotonic() - start)
        except subprocess.TimeoutExpired:
            self.stalled += 1
            self.keep_state()
        for process in (client, server):
            process.kill()
            process.wait()

    def keep_state(self):
        name = os.path.join(options.output, f"stalled-{self.pair}-{len(self.took)}.txt")
        with open(name, "w", encoding="utf-8") as file:
            for host in (f"a{self.pair}", f"b{self.pair}"):
                file.write(f"# {host}\n{output(host, f'{STATE}; nstat -asz')}")
        print(f"stands still: see {name}", file=sys.stderr)


def fullest(end):
    """The largest part of its receive buffer that a connection has used, as samples show it."""
    most = 0.0
    while time.monotonic() < end:
        for pair in range(1, PAIRS + 1):
            text = output(f"b{pair}", "ss --mptcp --info --memory --numeric --no-header state established")
            sizes = re.findall(r"skmem:\(r(\d+),rb(\d+)", text)
            most = max([most, *(int(used) / int(size) for used, size in sizes)])
        time.sleep(0.1)
    return most


def run():
    end = time.monotonic() + options.seconds
    pairs = [Transfers(pair) for pair in range(1, PAIRS + 1)]
    threads = [threading.Thread(target=pair.run, args=(end,), daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    most = fullest(end)
    for thread in threads:
        thread.join()
    took = sorted(seconds for pair in pairs for seconds in pair.took)
    stalled = sum(pair.stalled for pair in pairs)
    return {
        "transfers": len(took) + stalled,
        "stalled": stalled,
        "median_seconds": round(took[len(took) // 2], 2) if took else None,
        "longest_seconds": round(took[-1], 2) if took else None,
        "fullest_receive_buffer": round(most, 3),
    }


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    json.dump(scenario(), file)
    file.flush()
    braid("lab", "deploy", file.name, "--name", LAB)
try:
    result = run()
finally:
    braid("lab", "destroy", LAB)
print(json.dumps(result))
sys.exit(1 if result["stalled"] else 0)
