#!/usr/bin/env python3
"""Encrypted lines as links of a network with a controller: edges spray one plain TCP flow over them.

Usage, as root: tests/edge/controlled.py BRAID

    host - edge + 2 sites = translator, router = 2 sites + edge - host

All in network namespaces. At each end a site for each line has a TAP, and the edge has both TAPs as ports; the controller is at the
right end. The first line passes an address translator. Prints what iperf3 reaches over the first line, over both, and over the
second once the first is cut meanwhile. Ends with 1 if both carry less than 1.5 times what one does, if the second alone carries less
than half of one in the end, or if anything but the sites' datagrams is on the first line.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import edge
import sites
from edge import inside, run

PLACES = sites.Places("ctl", ["i1", "i2"])
RATE = 20
WANTED = 1.5
PORTS = {1: 51821, 2: 51822}
LEFT, RIGHT = PLACES.sites
CONTROLLER = "10.99.0.2"
# Of a line, towards each end.
DEVICES = ["near", "far"]


def build():
    edge.cable((LEFT, "mgmt"), (RIGHT, "mgmt"))
    for number, (host, site) in enumerate(zip(PLACES.hosts, PLACES.sites), 1):
        run(f"ip -n {site} address add 10.99.0.{number}/24 dev mgmt")
        # The edge has the hosts' side; Linux has no address there.
        run(f"ip -n {site} address flush dev lan")
        run(f"ip -n {host} address flush dev eth")
        run(f"ip -n {host} address add 10.9.0.{number}/24 dev eth")
    for line, between in enumerate(PLACES.between, 1):
        for side, site in enumerate(PLACES.sites):
            device = DEVICES[side]
            edge.cable((site, f"wan{line}"), (between, device))
            run(f"ip -n {between} address add {address(side, line, 1)}/24 dev {device}")
            run(f"ip -n {site} address add {address(side, line, 2)}/24 dev wan{line}")
            run(f"ip -n {site} route add default via {address(side, line, 1)} dev wan{line} metric {line}")
            edge.limit(between, device, RATE)
    inside(PLACES.between[0], "nft add table ip nat")
    inside(PLACES.between[0], "nft add chain ip nat post { type nat hook postrouting priority 100 ; }")
    inside(PLACES.between[0], "nft add rule ip nat post oifname far masquerade")


def address(side, line, end):
    return f"198.51.{10 * side + line}.{end}"


def files(braid, folder):
    """For each line the files of both ends, which have keys of their own."""
    configs = {}
    for line, port in PORTS.items():
        names = [f"{folder}/{side}{line}" for side in sites.SIDES]
        publics = [run(f"{braid} site keygen {name}.key").strip() for name in names]
        for side, name in enumerate(names):
            text = f'private_key = "{name}.key"\nstatus = "{name}.sock"\nport = {port}\n[[uplink]]\ninterface = "wan{line}"\n'
            text += f'[[peer]]\nname = "other"\npublic_key = "{publics[1 - side]}"\n'
            text += f'addresses = ["{address(1, line, 2)}:{port}"]\n' if side == 0 else ""
            Path(f"{name}.toml").write_text(text + f'[lan]\ndevice = "line{line}"\nethernet = true\n')
        configs[line] = [f"{name}.toml" for name in names]
    return configs


@contextlib.contextmanager
def controlled(braid, folder):
    """The controller, and an edge at each end; the controller's address for requests."""
    processes = []

    def start(space, words):
        with open(f"{folder}/{len(processes)}.log", "w") as log:
            command = ["ip", "netns", "exec", space, braid, *words.split()]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        json.loads(processes[-1].stdout.readline())

    try:
        start(RIGHT, f"controller run --openflow {CONTROLLER}:6653 --openflow-trusted")
        for dpid, site in enumerate(PLACES.sites, 1):
            ports = " ".join(f"--port line{line}@{RATE}Mbit" for line in PORTS)
            start(site, f"edge run --dpid {dpid:016x} --port lan {ports} --controller tcp:{CONTROLLER}:6653")
        yield
    except BaseException:
        for log in sorted(Path(folder).glob("*.log")):
            print(log.name, log.read_text()[-3000:], sep="\n", file=sys.stderr)
        raise
    finally:
        for process in processes:
            sites.stop(process)


@contextlib.contextmanager
def transfer(seconds):
    """One plain TCP flow; the list is filled with Mbit/s by the second once it is over."""
    rates = []
    server = subprocess.Popen(f"ip netns exec {PLACES.hosts[1]} iperf3 -s -1".split(), stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    words = f"ip netns exec {PLACES.hosts[0]} iperf3 -c 10.9.0.2 -t {seconds} -C cubic --json"
    client = subprocess.Popen(words.split(), stdout=subprocess.PIPE, text=True)
    try:
        yield rates
        result = json.loads(client.communicate()[0])
        if "error" in result:
            sys.exit(f"iperf3: {result['error']}")
        rates.extend(interval["sum"]["bits_per_second"] / 1e6 for interval in result["intervals"])
    finally:
        for process in (client, server):
            process.kill()
            process.wait()


def cut(line, state):
    run(f"ip -n {PLACES.between[line - 1]} link set near {state}")


def links(braid):
    return json.loads(inside(RIGHT, f"{braid} links --json"))["links"]


@contextlib.contextmanager
def watched():
    """What is on the first line, by whether it is the sites' datagrams; ARP and ND aside."""
    words = "tcpdump -nn --immediate-mode -l -s 64 -i near not arp and not icmp6"
    command = ["ip", "netns", "exec", PLACES.between[0], *words.split()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    seen = {True: [], False: []}
    try:
        yield seen
    finally:
        process.terminate()
        for line in filter(None, process.communicate()[0].splitlines()):
            seen[f".{PORTS[1]}" in line and "UDP" in line].append(line)


def check(braid):
    sites.until("the controller knows both links, both ways", lambda: len(links(braid)) == 4, 60)
    cut(2, "down")
    sites.until("the second line is gone", lambda: len(links(braid)) == 2, 60)
    with transfer(10) as alone:
        pass
    cut(2, "up")
    sites.until("it is back", lambda: len(links(braid)) == 4, 60)
    with watched() as seen, transfer(16) as together:
        time.sleep(11)
        cut(1, "down")
    one, both, after = mean(alone[3:]), mean(together[3:10]), mean(together[-2:])
    print(f"one line {one:.1f} Mbit/s, both {both:.1f}, {both / one:.2f} of one; the second alone again {after:.1f}")
    print(f"on the first line {len(seen[True])} datagrams of the sites, and {len(seen[False])} other packets")
    if both < WANTED * one or after < one / 2 or not seen[True] or seen[False]:
        sys.exit(f"wanted {WANTED} of one, half of one after the cut, and no other packets: {together} {seen[False][:3]}")


def mean(values):
    return sum(values) / len(values)


def main():
    braid = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, sites.kept(PLACES):
        build()
        configs = files(braid, folder)
        with contextlib.ExitStack() as stack:
            for line in PORTS:
                stack.enter_context(sites.running(braid, PLACES, configs[line]))
            for line in PORTS:
                up = lambda line=line: all(path["up"] for path in sites.paths(braid, configs[line][0]))
                sites.until(f"line {line} is up", up)
            stack.enter_context(controlled(braid, folder))
            check(braid)


if __name__ == "__main__":
    main()
