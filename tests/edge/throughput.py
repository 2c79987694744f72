#!/usr/bin/env python3
"""What one plain TCP flow reaches between two sites over lines without limits, and what that costs the sites.

Usage, as root: tests/edge/throughput.py BRAID [SECONDS [RUNS]]

    host - site = one or two lines = site - host

All in network namespaces, joined by veth pairs. Each run measures, in turns: the same lines without tunnels, and tunnels over one and over
two lines; each with hosts that send 1,500-byte frames, and with hosts that leave segmentation to their cards (GSO packets). The flow uses
CUBIC. Prints medians: Gbit/s that arrive, the part of what the lines alone carry, and core-seconds that each site takes for a Gbit, with the
cipher that the sites have chosen. For comparison, it prints what sealing and opening 1,400 bytes with either cipher takes (OpenSSL, one
thread). Nothing is judged: what is reached is the machine's.
"""

import os
import re
import statistics
import sys
import tempfile
from contextlib import contextmanager

import edge
import sites
from edge import inside, run

PLACES = sites.Places("fast", [])
LINES = (1, 2)
FRAMES, PACKETS = "1,500-byte frames", "GSO packets"
SEALED = 1400
CIPHERS = ("aes-256-gcm", "chacha20-poly1305")


def build():
    for line in LINES:
        ends = [(site, f"wan{line}") for site in PLACES.sites]
        edge.cable(*ends)
        for side, (site, device) in enumerate(ends, 1):
            run(f"ip -n {site} address add {address(line, side)}/24 dev {device}")


def address(line, side):
    return f"192.168.{line}.{side}"


def offload(kind):
    """Whether hosts leave segmentation and merging to their cards."""
    state = "off" if kind == FRAMES else "on"
    for space, device in [*((host, "eth") for host in PLACES.hosts), *((site, "lan") for site in PLACES.sites)]:
        inside(space, f"ethtool -K {device} tso {state} gso {state} gro {state}")


@contextmanager
def plain():
    """The hosts reach each other over the first line, without a tunnel."""
    routes = [(site, f"10.{3 - side}.0.0/16 via {address(1, 3 - side)}") for side, site in enumerate(PLACES.sites, 1)]
    for site, route in routes:
        run(f"ip -n {site} route add {route}")
    try:
        yield []
    finally:
        for site, route in routes:
            run(f"ip -n {site} route delete {route}")


@contextmanager
def tunnelled(braid, folder, publics, lines):
    configs = sites.files(folder, publics, {line: address(line, 2) for line in LINES[:lines]})
    with sites.running(braid, PLACES, configs) as processes:
        sites.until("the paths are up", lambda: [it["mtu"] > 1400 for it in sites.paths(braid, configs[0])] == [True] * lines)
        sites.until("the devices follow", lambda: all(sites.status(braid, config)["mtu"] > 1400 for config in configs))
        yield processes


def measure(processes, seconds):
    """Gbit/s, and core-seconds a Gbit of each site."""
    before = edge.cores(processes)
    rate = sites.iperf(PLACES, f"-t {seconds} -C cubic") / 1000
    return rate, [(after - start) / (rate * seconds) for start, after in zip(before, edge.cores(processes))]


def sealing(cipher):
    """Core-seconds a Gbit for sealing and opening, as long each."""
    printed = run(f"openssl speed -seconds 1 -bytes {SEALED} -aead -evp {cipher} -mr")
    rate = re.search(r"^\+F:\d+:[^:]*:([\d.]+)$", printed, re.MULTILINE)
    return 2 / (float(rate[1]) * 8 / 1e9)


def report(name, rows, plain_rows):
    rate = statistics.median(rate for rate, _ in rows)
    each = ", ".join(f"{rate:.2f}" for rate, _ in rows)
    part = statistics.median(rate / plain for (rate, _), (plain, _) in zip(rows, plain_rows))
    line = f"{name:34} {rate:5.2f} Gbit/s ({each}), {part:.2f} of the lines alone"
    if rows[0][1]:
        sender, receiver = (statistics.median(column) for column in zip(*(cores for _, cores in rows)))
        line += f"; core-seconds a Gbit: {sender:.2f} + {receiver:.2f} = {sender + receiver:.2f}"
    print(line)


def main():
    braid = os.path.abspath(sys.argv[1])
    seconds, runs = (int(word) for word in (sys.argv[2:] + ["8", "3"][len(sys.argv) - 2 :])[:2])
    results = {(kind, lines): [] for kind in (FRAMES, PACKETS) for lines in (0, *LINES)}
    sealed = {cipher: [] for cipher in CIPHERS}
    with tempfile.TemporaryDirectory() as folder, sites.kept(PLACES):
        build()
        publics = sites.keys(braid, folder)
        for _ in range(runs):
            for cipher, taken in sealed.items():
                taken.append(sealing(cipher))
            for (kind, lines), rows in results.items():
                offload(kind)
                with tunnelled(braid, folder, publics, lines) if lines else plain() as processes:
                    rows.append(measure(processes, seconds))
    for (kind, lines), rows in results.items():
        report(f"{kind}, " + ["no tunnel", "one line", "two lines"][lines], rows, results[kind, 0])
    for cipher, taken in sealed.items():
        print(f"sealing and opening {SEALED} bytes, {cipher}: {statistics.median(taken):.3f} core-seconds a Gbit")


if __name__ == "__main__":
    main()
