#!/usr/bin/env python3
"""One plain TCP flow between unchanged hosts, sprayed by two edges over paths between them.

Usage, as root: tests/edge/edge.py BRAID [SECONDS [RUNS]]

Makes four network namespaces, host - edge = edge - host, with two paths of 100 Mbit/s (TBF) between the edges, runs
`braid edge run` in both, gives it flows and groups with `ovs-ofctl`, and prints what iperf3 reaches over one path, over
both without putting in order, and over both; then what passes without limits, and with how much of a core. Copies
are compared by their SHA-256, and IPv6, UDP and tagged frames must pass. Ends with 1 if
something is corrupted, or if both paths carry less than 0.94 of their sum.
"""

import contextlib
import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

RATE = 100
SPACES = LEFT, NEAR, FAR, RIGHT = [f"edge{os.getpid()}{letter}" for letter in "abcd"]
EDGES = {NEAR: 1, FAR: 2}
WANTED = 0.94


def run(words, check=True):
    result = subprocess.run(words.split(), capture_output=True, text=True)
    if check and result.returncode:
        sys.exit(f"{words}: {result.stderr}{result.stdout}")
    return result.stdout


def inside(space, words, **options):
    return run(f"ip netns exec {space} {words}", **options)


@contextlib.contextmanager
def network(braid, rate):
    edges = []
    try:
        build(rate)
        for space, dpid in EDGES.items():
            ports = "--port hst=1 --port p1=2 --port p2=3"
            command = f"ip netns exec {space} {braid} edge run --listen 127.0.0.1:6634 --dpid {dpid:016x} {ports}"
            edge = subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            edges.append(edge)
            json.loads(edge.stdout.readline())
            give_flows(space)
        yield edges
    finally:
        for edge in edges:
            edge.send_signal(signal.SIGTERM)
            edge.wait()
        for space in SPACES:
            run(f"ip netns delete {space}", check=False)


def build(rate):
    for space in SPACES:
        run(f"ip netns add {space}")
        run(f"ip -n {space} link set lo up")
        inside(space, "sysctl -qw net.ipv6.conf.default.accept_dad=0")
    cable((LEFT, "hst"), (NEAR, "hst"))
    cable((FAR, "hst"), (RIGHT, "hst"))
    for path in ["p1", "p2"]:
        cable((NEAR, path), (FAR, path))
        for space in EDGES:
            if rate:
                limit(space, path, rate)
    for number, space in enumerate([LEFT, RIGHT], 1):
        run(f"ip -n {space} address add 10.9.0.{number}/24 dev hst")
        run(f"ip -n {space} address add fd09::{number}/64 dev hst nodad")


def cable(*ends):
    (one, a), (two, b) = ends
    run(f"ip link add dev {a} netns {one} type veth peer name {b} netns {two}")
    for space, device in ends:
        if space in EDGES:
            inside(space, f"sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1")
        run(f"ip -n {space} link set {device} up")


def limit(space, path, rate):
    run(f"tc -n {space} qdisc add dev {path} root tbf rate {rate}mbit burst 16k limit 300k")


def ofctl(space, command, argument=""):
    return inside(space, f"ovs-ofctl -O OpenFlow13 {command} tcp:127.0.0.1:6634 {argument}")


def give_flows(space):
    buckets = ",".join(f"bucket=weight:1,watch_port:{port},actions=output:{port}" for port in [2, 3])
    ofctl(space, "add-group", f"group_id=1,type=select,{buckets}")
    ofctl(space, "add-group", "group_id=2,type=indirect,bucket=actions=output:1")
    ofctl(space, "add-flow", "in_port=1,actions=group:1")
    ofctl(space, "add-flow", "in_port=2,actions=group:2")
    ofctl(space, "add-flow", "in_port=3,actions=group:2")


def tune(braid, one_path=False, order=True):
    for space in EDGES:
        inside(space, f"{braid} edge group spray 1")
        if one_path:
            inside(space, f"{braid} edge group paths 1 --path 1=0")
        inside(space, f"{braid} edge group resequence 2 {'' if order else '--off'}")


def iperf(seconds, address="10.9.0.2", more=""):
    server = subprocess.Popen(f"ip netns exec {RIGHT} iperf3 -s -1".split(), stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        command = f"iperf3 -c {address} -t {seconds} -C cubic --json {more}"
        result = json.loads(inside(LEFT, command, check=False))
        if "error" in result:
            sys.exit(f"iperf3: {result['error']}")
        return result["end"]
    finally:
        server.kill()
        server.wait()


def received(end):
    return end.get("sum_received", end.get("sum"))["bits_per_second"] / 1e6


def cores(edges):
    tick = os.sysconf("SC_CLK_TCK")
    fields = [open(f"/proc/{edge.pid}/stat").read().rsplit(")", 1)[1].split() for edge in edges]
    return [(int(field[11]) + int(field[12])) / tick for field in fields]


def rates(braid, seconds, runs):
    ways = {
        "one path": {"one_path": True},
        "two paths, as they come": {"order": False},
        "two paths, in order": {},
    }
    results = {way: [] for way in ways}
    with network(braid, RATE):
        for _ in range(runs):
            for way, options in ways.items():
                tune(braid, **options)
                end = iperf(seconds)
                results[way].append((received(end), end["sum_sent"]["retransmits"]))
        print(inside(FAR, f"{braid} edge group show 2"))
    # Headers of Ethernet, IPv4 and TCP with time stamps leave this of a full frame.
    payload = RATE * 1448 / 1514
    for way, rates in results.items():
        median = statistics.median(rate for rate, _ in rates)
        text = ", ".join(f"{rate:.1f}" for rate, _ in rates)
        again = statistics.median(again for _, again in rates)
        share = f"{median / (2 * RATE):.3f} of the sum, {median / (2 * payload):.3f} of what it leaves for data"
        print(f"{way:24} {median:6.1f} Mbit/s ({text}), {share}, {again:.0f} retransmissions")
    return statistics.median(rate for rate, _ in results["two paths, in order"]) / (2 * RATE)


def unlimited(braid, seconds, offloads):
    with network(braid, None) as edges:
        tune(braid)
        if not offloads:
            for space in [LEFT, RIGHT]:
                inside(space, "ethtool -K hst tso off gso off gro off")
        before = cores(edges)
        rate = received(iperf(seconds))
        used = [after - start for start, after in zip(before, cores(edges))]
        each = ", ".join(f"{core / (rate * seconds / 1000):.2f}" for core in used)
        kind = "GSO packets" if offloads else "full frames"
        print(f"without limits, {kind}: {rate / 1000:.2f} Gbit/s, core-seconds a Gbit at each edge: {each}")


def copies(braid):
    """Content that crosses whole, over IPv4 and IPv6, and what is not TCP."""
    content = os.urandom(30 << 20)
    wanted = hashlib.sha256(content).hexdigest()
    with network(braid, RATE):
        tune(braid)
        for address in ["10.9.0.2", "fd09::2"]:
            got = copy(content, address)
            print(f"{len(content) >> 20} MiB to {address}: {'equal' if got == wanted else 'DIFFERENT'}")
            if got != wanted:
                return False
        lost = received(iperf(3, more="-u -b 20M"))
        print(f"UDP of 20 Mbit/s: {lost:.1f} arrive")
        tagged()
        return True


def copy(content, address):
    """The SHA-256 of what arrives; nothing if it does not in time."""
    receiver = f"ip netns exec {RIGHT} {sys.executable} -c"
    listen = (
        "import socket,hashlib,sys\n"
        "s=socket.create_server(('::',7001),family=socket.AF_INET6,dualstack_ipv6=True)\n"
        "print('ready',flush=True)\nc,_=s.accept()\nh=hashlib.sha256()\n"
        "while b:=c.recv(1<<16): h.update(b)\nprint(h.hexdigest())"
    )
    process = subprocess.Popen([*receiver.split(), listen], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    send = f"import socket,sys\ns=socket.create_connection(('{address}',7001))\ns.sendall(sys.stdin.buffer.read())"
    sender = ["ip", "netns", "exec", LEFT, sys.executable, "-c", send]
    try:
        subprocess.run(sender, input=content, check=True, timeout=60)
        return process.communicate(timeout=60)[0].strip()
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()


def tagged():
    """A tag is put on at one edge and taken off at the other."""
    vlan = "push_vlan:0x8100,set_field:4138->vlan_vid,output:2"
    for space in EDGES:
        ofctl(space, "add-flow", f"priority=40000,in_port=1,actions={vlan}")
        ofctl(space, "add-flow", "priority=40000,in_port=2,dl_vlan=42,actions=pop_vlan,output:1")
    rate = received(iperf(2))
    print(f"with a VLAN tag between the edges: {rate:.1f} Mbit/s")


def main():
    braid = os.path.abspath(sys.argv[1])
    seconds, runs = (int(word) for word in (sys.argv[2:] + ["10", "3"][len(sys.argv) - 2 :])[:2])
    whole = copies(braid)
    share = rates(braid, seconds, runs)
    for offloads in [True, False]:
        unlimited(braid, seconds, offloads)
    if not whole or share < WANTED:
        sys.exit(f"wanted at least {WANTED} of the sum, and everything whole")


if __name__ == "__main__":
    main()
