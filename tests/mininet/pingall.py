#!/usr/bin/python3
"""Runs a Mininet topology under a controller and asks everybody to reach everybody, over IPv4 and IPv6.

Prints one JSON object. Exit code: 0 all well, 2 usage, 4 the machine lacks something, 5 packets were lost or came
twice, or frames circle. Start it in tests/mininet/sandbox, beside the controller; docs/mininet.md has examples.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from subprocess import DEVNULL

try:
    from mininet.log import setLogLevel
    from mininet.net import Mininet
    from mininet.node import OVSSwitch, RemoteController
    from mininet.topo import LinearTopo, SingleSwitchTopo
    from mininet.topolib import TorusTopo, TreeTopo
    from mininet.util import buildTopo
except ImportError as missing:
    print(f"pingall.py: {missing}: install Debian's mininet and start this with /usr/bin/python3", file=sys.stderr)
    sys.exit(4)

TOPOLOGIES = {"linear": LinearTopo, "single": SingleSwitchTopo, "torus": TorusTopo, "tree": TreeTopo}
FAMILIES = ("ipv4", "ipv6")
DATAGRAMS = str(Path(__file__).with_name("datagrams.py"))
# Discovery and Linux's own IPv6 put a few frames a second on a port; frames that circle, hundreds or thousands.
CIRCLING_FRAMES_PER_SECOND = 100


def main():
    args = arguments()
    setLogLevel("error")
    network = build(args)
    try:
        network.start()
        result = examine(network, args)
    finally:
        network.stop()
    print(json.dumps(result))
    sys.exit(0 if result["ok"] else 5)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topo", default="torus,3,3", help="as mn takes it: torus,X,Y tree,DEPTH,FANOUT linear,N")
    parser.add_argument("--controller", default="127.0.0.1:6653", metavar="IP:PORT")
    parser.add_argument("--exported", metavar="FILE", help="the topology in Braid's JSON, to be compared")
    parser.add_argument("--standalone", action="store_true", help="no controller: the switches learn by themselves")
    parser.add_argument("--wait", type=float, default=60, metavar="SECONDS", help="for the first answered pings")
    parser.add_argument("--broadcasts", type=int, default=5, metavar="N", help="datagrams to everybody, a family")
    args = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("ovs-vsctl"):
        print("pingall.py: needs root and Open vSwitch", file=sys.stderr)
        sys.exit(4)
    return args


def build(args):
    switch = partial(
        OVSSwitch,
        datapath="user",
        protocols="OpenFlow13",
        failMode="standalone" if args.standalone else "secure",
    )
    host, port = args.controller.rsplit(":", 1)
    controller = None if args.standalone else partial(RemoteController, ip=host, port=int(port))
    return Mininet(topo=buildTopo(TOPOLOGIES, args.topo), switch=switch, controller=controller, autoSetMacs=True)


def examine(network, args):
    addresses = prepare(network.hosts)
    waited = wait_until_reachable(network.hosts, addresses, args.wait)
    pings = {family: ping_all(network.hosts, addresses[family]) for family in FAMILIES}
    broadcasts = {family: broadcast(network.hosts, family, args.broadcasts) for family in FAMILIES}
    frames = frames_while_nobody_sends(network)
    ok = not any(ping["lost"] for ping in pings.values())
    ok = ok and not any(sent["missing"] or sent["duplicates"] for sent in broadcasts.values())
    exported = is_exported(network, args.exported) if args.exported else None
    return {
        "topology": args.topo,
        "exported": exported,
        "switches": len(network.switches),
        "hosts": len(network.hosts),
        "ready_after_seconds": waited,
        "ping": pings,
        "broadcast": broadcasts,
        "frames": frames,
        "ok": ok and not frames["circling"] and exported is not False,
    }


def is_exported(network, path):
    """Whether a file has the names and datapath ids of the network's switches, and its hosts."""
    topology = json.loads(Path(path).read_text())["topology"]
    switches = {(it["name"], int(it["dpid"], 16)) for it in topology["switches"]}
    hosts = {it["name"] for it in topology["hosts"]}
    made = {(it.name, int(it.dpid, 16)) for it in network.switches}
    return switches == made and hosts == {it.name for it in network.hosts}


def prepare(hosts):
    """Gives every host an IPv6 address, and checksums that a user-space switch can pass on."""
    addresses = {"ipv4": {}, "ipv6": {}}
    for number, host in enumerate(hosts, start=1):
        interface = host.defaultIntf().name
        host.cmd(f"ethtool -K {interface} tx off")
        host.cmd(f"ip -6 address add fd00::{number:x}/64 dev {interface} nodad")
        addresses["ipv4"][host] = host.IP()
        addresses["ipv6"][host] = f"fd00::{number:x}"
    return addresses


def wait_until_reachable(hosts, addresses, seconds):
    """Seconds until the first host reached the last one over both families; nothing when it never did."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if all(ping(hosts[0], addresses[family][hosts[-1]]) for family in FAMILIES):
            return round(time.monotonic() - start, 1)
    return None


def ping_all(hosts, addresses):
    """Each host pings all others in turn, all hosts at the same time."""
    names = {address: host.name for host, address in addresses.items()}
    runs = {source: ping_each(source, [addresses[target] for target in hosts if target != source]) for source in hosts}
    lost = [f"{source} {names[address]}" for source, run in runs.items() for address in run.communicate()[0].split()]
    sent = len(hosts) * (len(hosts) - 1)
    return {"sent": sent, "received": sent - len(lost), "lost": lost}


def ping_each(source, addresses):
    """Prints the addresses from which no answer came."""
    script = 'for address; do ping -n -q -c 1 -W 1 "$address" >/dev/null 2>&1 || echo "$address"; done'
    return source.popen(["sh", "-c", script, "ping_each", *addresses], stdin=DEVNULL, text=True)


def ping(source, address):
    return not ping_each(source, [address]).communicate()[0]


def broadcast(hosts, family, count):
    """One host sends datagrams to everybody: each other host should get each once."""
    sender, *others = hosts
    receivers = {host: start_receiver(host, family) for host in others}
    sender.cmd(f"{sys.executable} {DATAGRAMS} send {family} {sender.defaultIntf()} {count}")
    time.sleep(1)
    arrived = {host: Counter(stop_receiver(receiver)) for host, receiver in receivers.items()}
    missing = sum(count - len(numbers) for numbers in arrived.values())
    duplicates = sum(numbers.total() - len(numbers) for numbers in arrived.values())
    return {"sent": count, "receivers": len(others), "missing": missing, "duplicates": duplicates}


def start_receiver(host, family):
    command = [sys.executable, DATAGRAMS, "receive", family]
    receiver = host.popen(command, stdin=DEVNULL, text=True)
    receiver.stdout.readline()
    return receiver


def stop_receiver(receiver):
    receiver.terminate()
    return receiver.communicate()[0].split()


def frames_while_nobody_sends(network, seconds=3):
    """What crosses the links now that all is said: more than discovery only if frames circle."""
    interfaces = [interface.name for switch in network.switches for interface in switch.intfList()]
    interfaces = [name for name in interfaces if name != "lo"]
    before = frames_received(interfaces)
    time.sleep(seconds)
    received = frames_received(interfaces) - before
    limit = CIRCLING_FRAMES_PER_SECOND * seconds * len(interfaces)
    return {"seconds": seconds, "ports": len(interfaces), "received": received, "circling": received > limit}


def frames_received(interfaces):
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    counters = {name.strip(): values.split() for name, values in (line.split(":", 1) for line in lines)}
    return sum(int(counters[interface][1]) for interface in interfaces if interface in counters)


if __name__ == "__main__":
    main()
