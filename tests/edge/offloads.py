#!/usr/bin/env python3
"""Packets pass two sites as they are, whatever each of them and its interfaces leave to the kernel.

Usage, as root: tests/edge/offloads.py BRAID

    host - site = site - host

All in network namespaces, routed and bridged, with tunnels over IPv4 and IPv6. Sites pass packets of one kind together (offload = true, the
default), one of them does not, or their interface computes no checksums, so that the kernel refuses to segment. Each time, copies by TCP over
IPv4 and IPv6 must be equal by their SHA-256, and UDP datagrams that a host leaves to its card to segment must arrive whole and in order.
Ends with 1 if not.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import edge
import sites
from edge import inside, run

PLACES = sites.Places("off", [])
HOSTS, SITES = PLACES.hosts, PLACES.sites
SIZE = 16 << 20
# Datagrams of this length, so many in a call, so many calls.
DATAGRAM, TOGETHER, CALLS = 1000, 40, 5
OUTER = {4: "192.168.1.2", 6: "[fd77::2]"}
CASES = [
    ("routed", 4, (True, True), True),
    ("routed", 6, (True, True), True),
    ("routed", 4, (True, False), True),
    ("routed", 4, (False, True), True),
    ("routed", 4, (True, True), False),
    ("bridged", 4, (True, True), True),
    ("bridged", 6, (True, False), True),
    ("bridged", 6, (False, True), True),
    ("bridged", 6, (True, True), False),
]
RECEIVE = """
import hashlib, socket, sys
_, port, datagrams, length = sys.argv
server = socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True)
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
udp.bind(("", int(port)))
print(flush=True)
digest, (connection, _) = hashlib.sha256(), server.accept()
while some := connection.recv(1 << 16):
    digest.update(some)
connection.close()
udp.settimeout(5)
for number in range(int(datagrams)):
    datagram = udp.recv(1 << 16)
    if datagram != number.to_bytes(2, "big") * (int(length) // 2):
        sys.exit(f"datagram {number}: {len(datagram)} bytes, {datagram[:4]}")
print(digest.hexdigest())
"""
SEND = """
import socket, sys
_, address, port, length, together, calls = sys.argv
length, together, calls = int(length), int(together), int(calls)
connection = socket.create_connection((address, int(port)))
connection.sendall(sys.stdin.buffer.read())
# The receiver closes when it has all: nothing that is queued takes the datagrams' room.
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
udp = socket.socket(connection.family, socket.SOCK_DGRAM)
udp.setsockopt(socket.IPPROTO_UDP, 103, length)
for call in range(calls):
    numbers = range(call * together, (call + 1) * together)
    udp.sendto(b"".join(it.to_bytes(2, "big") * (length // 2) for it in numbers), (address, int(port)))
"""


def build():
    ends = [(site, "wan1") for site in SITES]
    edge.cable(*ends)
    for side, (host, site) in enumerate(zip(HOSTS, SITES), 1):
        run(f"ip -n {site} address add 192.168.1.{side}/24 dev wan1")
        run(f"ip -n {site} address add fd77::{side}/64 dev wan1 nodad")
        inside(site, "sysctl -qw net.ipv6.conf.all.forwarding=1")
        run(f"ip -n {site} address add fd0{side}::1/64 dev lan nodad")
        run(f"ip -n {site} link add br0 type bridge")
        run(f"ip -n {site} link set br0 up")
        run(f"ip -n {host} address add fd0{side}::2/64 dev eth nodad")
        run(f"ip -n {host} route add default via fd0{side}::1")
        run(f"ip -n {host} address add 10.9.0.{side}/24 dev eth")
        run(f"ip -n {host} address add fd09::{side}/64 dev eth nodad")


def attach(kind):
    """The hosts' side of the sites, in a bridge or not."""
    for site in SITES:
        run(f"ip -n {site} link set lan " + ("master br0" if kind == "bridged" else "nomaster"))


def checksums(state):
    for site in SITES:
        inside(site, f"ethtool -K wan1 tx {'on' if state else 'off'}")


def files(folder, publics, kind, outer, offload):
    for side, mine in enumerate(offload):
        text = f'offload = {str(mine).lower()}\nprivate_key = "{"ab"[side]}.key"\nstatus = "{folder}/{"ab"[side]}.sock"\n'
        text += f'[[uplink]]\ninterface = "wan1"\n[[peer]]\nname = "other"\npublic_key = "{publics[1 - side]}"\n'
        text += f'networks = ["10.{2 - side}.0.0/16", "fd0{2 - side}::/64"]\n' if kind == "routed" else ""
        text += f'[[peer.path]]\nuplink = "wan1"\naddress = "{OUTER[outer]}:{sites.PORT}"\n' if side == 0 else ""
        text += "[lan]\n" + ('bridge = "br0"\n' if kind == "bridged" else "")
        Path(folder, f"{'ab'[side]}.toml").write_text(text)
    return [f"{folder}/{side}.toml" for side in "ab"]


@contextmanager
def receiver(port):
    words = ["ip", "netns", "exec", HOSTS[1], sys.executable, "-c", RECEIVE, str(port), str(TOGETHER * CALLS), str(DATAGRAM)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def passes(address, port):
    """Whether what a host sends arrives as it was."""
    content = os.urandom(SIZE)
    with receiver(port) as process:
        words = ["ip", "netns", "exec", HOSTS[0], sys.executable, "-c", SEND, address, str(port)]
        subprocess.run([*words, *map(str, (DATAGRAM, TOGETHER, CALLS))], input=content, check=True, timeout=60)
        return process.communicate(timeout=60)[0].strip() == hashlib.sha256(content).hexdigest()


def judge(braid, folder, publics, case):
    kind, outer, offload, computes = case
    attach(kind)
    checksums(computes)
    configs = files(folder, publics, kind, outer, offload)
    addresses = ["10.2.0.2", "fd02::2"] if kind == "routed" else ["10.9.0.2", "fd09::2"]
    with sites.running(braid, PLACES, configs):
        sites.until("the path is up", lambda: [it["mtu"] > 1380 for it in sites.paths(braid, configs[0])] == [True])
        results = [passes(address, 7000 + number) for number, address in enumerate(addresses)]
    words = ", ".join("equal" if it else "DIFFERENT" for it in results)
    ends = {(True, True): "both offload", (True, False): "the first offloads", (False, True): "the second offloads"}[offload]
    print(f"{kind}, tunnel over IPv{outer}, {ends}{'' if computes else ', no checksums'}: {words}")
    return all(results)


def main():
    braid = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, sites.kept(PLACES):
        build()
        publics = sites.keys(braid, folder)
        results = [judge(braid, folder, publics, case) for case in CASES]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
