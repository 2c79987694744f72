#!/usr/bin/env python3
"""Hosts learn how long packets may be that go through a tunnel between two edges.

Usage, as root: tests/edge/mtu.py BRAID

host - edge = router = edge - host, in network namespaces; the tunnel goes by the router, which knows nothing of the hosts. What is too long for
the tunnel is cut by the edge, if its sender lets it be, or answered. Then the router's link becomes shorter: it tells the edge, which tells the
hosts. Hosts must know the lengths by then, of IPv4 and IPv6, what is just as long must pass, and a copy must come whole. Ends with 1 if not.
"""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import edge
from edge import FAR, LEFT, NEAR, RIGHT, inside, ofctl, run

ROUTER = f"edge{os.getpid()}r"
ENDS = {NEAR: "192.0.2.6", FAR: "192.0.2.70"}
GATEWAYS = {NEAR: "192.0.2.5", FAR: "192.0.2.69"}
HOSTS = ["10.9.0.2", "fd09::2"]
# In front of the packet inside: Ethernet, GRE, IPv4.
OUTSIDE = 14 + 4 + 20


@contextlib.contextmanager
def network(braid):
    edges = []
    try:
        build()
        for (space, dpid), other in zip(edge.EDGES.items(), [FAR, NEAR]):
            ports = f"--port hst=1 --uplink p1,{ENDS[space]}/30,{GATEWAYS[space]} --tunnel {ENDS[space]},{ENDS[other]}=2"
            command = f"ip netns exec {space} {braid} edge run --listen 127.0.0.1:6634 --dpid {dpid:016x} {ports}"
            process = subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            edges.append(process)
            json.loads(process.stdout.readline())
            ofctl(space, "add-flow", "in_port=1,actions=output:2")
            ofctl(space, "add-flow", "in_port=2,actions=output:1")
        yield
    finally:
        for process in edges:
            process.send_signal(signal.SIGTERM)
            process.wait()
        for space in [*edge.SPACES, ROUTER]:
            run(f"ip netns delete {space}", check=False)


def build():
    for space in [*edge.SPACES, ROUTER]:
        run(f"ip netns add {space}")
        run(f"ip -n {space} link set lo up")
    edge.cable((LEFT, "hst"), (NEAR, "hst"))
    edge.cable((FAR, "hst"), (RIGHT, "hst"))
    for host, number in [(LEFT, 1), (RIGHT, 2)]:
        run(f"ip -n {host} address add 10.9.0.{number}/24 dev hst")
        run(f"ip -n {host} address add fd09::{number}/64 dev hst nodad")
    inside(ROUTER, "sysctl -qw net.ipv4.ip_forward=1")
    for space, device in [(NEAR, "near"), (FAR, "far")]:
        edge.cable((space, "p1"), (ROUTER, device))
        run(f"ip -n {ROUTER} address add {GATEWAYS[space]}/30 dev {device}")


def passes(address, length, tries=1, cut="do"):
    """Whether a packet of so many bytes is answered; nobody may cut it unless `cut` is `dont`."""
    headers = 28 if ":" not in address else 48
    ping = f"ping -M {cut} -n -q -c {tries} -i 0.2 -W 1 -s {length - headers} {address}"
    return subprocess.run(f"ip netns exec {LEFT} {ping}".split(), capture_output=True).returncode == 0


def known(address):
    """How long packets to there may be, as the host knows; nothing if nobody has told it."""
    route = run(f"ip -n {LEFT} route get {address}")
    found = re.search(r"\bmtu (\d+)", route)
    return int(found[1]) if found else None


def wait_until_open():
    for _ in range(100):
        if all(passes(address, 100) for address in HOSTS):
            return
        time.sleep(0.1)
    sys.exit("nothing passes the tunnel")


def cut():
    """Packets that may be cut pass while hosts know no lengths yet; what is wrong, in words."""
    for length in [1500, 3000, 20000]:
        if not passes(HOSTS[0], length, cut="dont"):
            yield f"{length} bytes that may be cut do not get to {HOSTS[0]}"
    if known(HOSTS[0]) is not None:
        yield f"{LEFT} was told of what can be cut"


def learn(link):
    """The hosts find out what goes over a link of so many bytes; what is wrong, in words."""
    wanted = link - OUTSIDE
    for address in HOSTS:
        # The first may be lost where a router has to send ICMP to the edge.
        passes(address, 1500, tries=3)
        if known(address) != wanted:
            yield f"{LEFT} knows {known(address)} bytes to {address}, not {wanted}"
        if not passes(address, wanted, tries=3):
            yield f"{wanted} bytes do not get to {address}"


def main():
    braid, content = os.path.abspath(sys.argv[1]), os.urandom(4 << 20)
    with network(braid):
        wait_until_open()
        wrong = [*cut(), *learn(1500)]
        run(f"ip -n {ROUTER} link set far mtu 1400")
        for address in HOSTS:
            whole = edge.copy(content, address) == hashlib.sha256(content).hexdigest()
            wrong += [] if whole else [f"the copy to {address} is not whole"]
        wrong += learn(1400)
    print("\n".join(wrong) or "what may be cut passes; of all else hosts know how long it may be, by the edge and by a router in the middle; copies are equal")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
