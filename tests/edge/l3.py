#!/usr/bin/env python3
"""One plain TCP flow sprayed by two edges over two uplinks that are routed by others, each with addresses of its own.

Usage, as root: tests/edge/l3.py BRAID [SECONDS [RATE]]

host - edge = router, router = edge - host, in network namespaces. Towards each router an edge has an address, as a site has of each of its
providers, for which it answers; routers know those and nothing of the hosts. The sending edge writes the addresses of the uplink that it chooses into each
packet, the receiving one the hosts' again before it resequences them; both ways. Prints what iperf3 reaches over one uplink and
over both (of RATE, 10 Mbit/s) and compares copies by their SHA-256. Ends with 1 if both carry less than 1.8 times what one does.
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys

import edge
from edge import FAR, LEFT, NEAR, RIGHT, inside, ofctl, run

ROUTERS = [f"edge{os.getpid()}r{number}" for number in (1, 2)]
HOSTS = {NEAR: "10.9.0.1", FAR: "10.9.0.2"}
WANTED = 1.8


def uplink(space, path):
    """An edge's address at a router, and the router's there."""
    block = 4 * path if space == NEAR else 64 + 4 * path
    return f"192.0.2.{block + 2}", f"192.0.2.{block + 1}"


def mac(space, device):
    return json.loads(run(f"ip -n {space} -j link show dev {device}"))[0]["address"]


@contextlib.contextmanager
def network(braid, rate):
    edges = []
    try:
        build(rate)
        for space, dpid in edge.EDGES.items():
            ports = "--port hst=1 --port p1=2 --port p2=3" + "".join(
                " --uplink p{},{}/30,{}".format(path, *uplink(space, path)) for path in (1, 2)
            )
            command = f"ip netns exec {space} {braid} edge run --listen 127.0.0.1:6634 --dpid {dpid:016x} {ports}"
            process = subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            edges.append(process)
            json.loads(process.stdout.readline())
            give_flows(braid, space)
        yield
    finally:
        for process in edges:
            process.send_signal(signal.SIGTERM)
            process.wait()
        for space in [*edge.SPACES, *ROUTERS]:
            run(f"ip netns delete {space}", check=False)


def build(rate):
    for space in [*edge.SPACES, *ROUTERS]:
        run(f"ip netns add {space}")
        run(f"ip -n {space} link set lo up")
    edge.cable((LEFT, "hst"), (NEAR, "hst"))
    edge.cable((FAR, "hst"), (RIGHT, "hst"))
    for host, other, number in [(LEFT, RIGHT, 1), (RIGHT, LEFT, 2)]:
        run(f"ip -n {host} address add 10.9.0.{number}/24 dev hst")
        run(f"ip -n {host} neighbour add 10.9.0.{3 - number} lladdr {mac(other, 'hst')} dev hst")
    for path, router in enumerate(ROUTERS, 1):
        inside(router, "sysctl -qw net.ipv4.ip_forward=1")
        for space, device in [(NEAR, "near"), (FAR, "far")]:
            edge.cable((space, f"p{path}"), (router, device))
            _, gateway = uplink(space, path)
            run(f"ip -n {router} address add {gateway}/30 dev {device}")
            if rate:
                edge.limit(router, device, rate)


def give_flows(braid, space):
    """Out: the uplink's addresses and its router. In: the hosts' again, in order."""
    other = FAR if space == NEAR else NEAR
    host = LEFT if space == NEAR else RIGHT
    buckets = []
    for path in (1, 2):
        (own, _), (peer, _) = uplink(space, path), uplink(other, path)
        sets = f"set_field:{own}->ip_src,set_field:{peer}->ip_dst"
        buckets.append(f"bucket=weight:1,watch_port:{path + 1},actions={sets},output:{path + 1}")
    ofctl(space, "add-group", "group_id=1,type=select," + ",".join(buckets))
    deliver = f"set_field:{mac(host, 'hst')}->eth_dst,output:1"
    ofctl(space, "add-group", f"group_id=2,type=indirect,bucket=actions={deliver}")
    ofctl(space, "add-flow", f"in_port=1,ip,nw_dst={HOSTS[other]},actions=group:1")
    for path in (1, 2):
        (own, _), (peer, _) = uplink(space, path), uplink(other, path)
        sets = f"set_field:{HOSTS[other]}->ip_src,set_field:{HOSTS[space]}->ip_dst"
        match = f"in_port={path + 1},ip,nw_src={peer},nw_dst={own}"
        ofctl(space, "add-flow", f"{match},actions={sets},group:2")


def main():
    braid = os.path.abspath(sys.argv[1])
    seconds, rate = (int(word) for word in (sys.argv[2:] + ["15", "10"][len(sys.argv) - 2 :])[:2])
    content = os.urandom(4 << 20)
    with network(braid, rate):
        edge.tune(braid, one_path=True)
        one = edge.received(edge.iperf(seconds))
        edge.tune(braid)
        both = edge.received(edge.iperf(seconds))
        whole = edge.copy(content, "10.9.0.2") == hashlib.sha256(content).hexdigest()
    print(f"one uplink {one:.1f} Mbit/s, both {both:.1f}, {both / one:.2f} times; copy {'equal' if whole else 'DIFFERENT'}")
    if not whole or both < WANTED * one:
        sys.exit(f"wanted at least {WANTED} times, and everything whole")


if __name__ == "__main__":
    main()
