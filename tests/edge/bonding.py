#!/usr/bin/env python3
"""One plain TCP flow between two sites over two lines, on sixteen pairs of lines, against each line alone.

Usage, as root: tests/edge/bonding.py BRAID [--profiles 1-4,9] [--seconds 20] [--runs 3] [--control cubic,bbr] [--judge]

    host - site = line A, line B = site - host

All in network namespaces; the lines are links in user space with the rates, delays, jitter and losses of the sixteen profiles that
the authors of mqvpn have published, with queues of 1,000 packets as netem's. Both sites run with line A alone, with line B alone,
and with both, each time anew. Prints the medians of what iperf3 receives after 5 s, and beside the ratio of both lines to the
better one what mqvpn reaches with its default and with the settings that its authors chose for the profile. With --judge, ends
with 1 where both lines carry less than 0.97 of the better one.
"""

import argparse
import contextlib
import os
import statistics
import sys
import tempfile

import edge
import sites
from edge import run

PLACES = sites.Places("bond", ["l"])
[LINES] = PLACES.between
WARM_UP = 5
LEAST = 0.97
# Name; of each line Mbit/s, milliseconds, milliseconds of jitter, percent lost; mqvpn's ratios by default and tuned.
PROFILES = [
    ("baseline", (50, 20, 0, 0), (50, 20, 0, 0), 1.82, 1.82),
    ("rtt_40", (50, 20, 0, 0), (50, 40, 0, 0), 0.02, 1.21),
    ("rtt_70", (50, 20, 0, 0), (50, 70, 0, 0), 0.03, 1.01),
    ("rtt_120", (50, 20, 0, 0), (50, 120, 0, 0), 0.17, 1.00),
    ("rtt_320", (50, 20, 0, 0), (50, 320, 0, 0), 0.99, 0.99),
    ("jit_5", (50, 20, 5, 0), (50, 20, 5, 0), 0.09, 1.58),
    ("jit_20", (50, 20, 20, 0), (50, 20, 20, 0), 0.05, 2.16),
    ("loss_05", (50, 20, 0, 0.5), (50, 20, 0, 0.5), 2.19, 2.19),
    ("loss_2", (50, 20, 0, 2), (50, 20, 0, 2), 1.78, 1.78),
    ("bw_4to1", (50, 20, 0, 0), (12, 20, 0, 0), 0.38, 1.03),
    ("bw_10to1", (100, 20, 0, 0), (10, 20, 0, 0), 0.18, 1.00),
    ("dual_lte", (40, 30, 5, 0.5), (25, 45, 8, 0.5), 0.03, 1.00),
    ("fiber_lte", (300, 8, 0, 0), (30, 40, 8, 0.5), 0.02, 1.00),
    ("lte_starlink", (40, 35, 8, 0), (100, 50, 25, 1), 0.00, 0.98),
    ("lte_geo", (40, 35, 0, 0), (20, 320, 20, 0.5), 0.98, 0.99),
    ("congested", (20, 50, 20, 2), (15, 60, 25, 2), 0.00, 1.00),
]


def build():
    for side, site in enumerate(PLACES.sites):
        for line in (1, 2):
            end = f"{'ab'[side]}{line}"
            edge.cable((site, f"wan{line}"), (LINES, end))
            sites.plain(site, f"wan{line}")
            sites.plain(LINES, end)
            run(f"ip -n {site} address add 192.168.{line}.{side + 1}/24 dev wan{line}")


def direction(rate, delay, jitter, loss):
    return {
        "rate": f"{rate}Mbit",
        "delay": f"{delay}ms",
        "jitter": f"{jitter}ms",
        "distribution": "normal",
        "loss": f"{loss}%",
        "queue": "1000 packets",
    }


@contextlib.contextmanager
def joined(options, folder, publics, profile, seed, used):
    """Both sites with these lines, as soon as all paths are up and their lengths are known."""
    configs = sites.files(folder, publics, {line: f"192.168.{line}.2" for line in used})
    directions = [direction(*profile[line]) for line in (1, 2)]
    with sites.lines(options.braid, folder, LINES, directions, seed):
        with sites.running(options.braid, PLACES, configs):
            sites.until("the sites are ready", lambda: ready(options.braid, configs, len(used)), 30)
            yield


def ready(braid, configs, count):
    for status in (sites.status(braid, config) for config in configs):
        paths = [path for path in status["peers"][0]["paths"] if path["up"] and path["mtu"] > 1400]
        if len(paths) < count or status["mtu"] < 1400:
            return False
    return True


def iperf(seconds, control):
    return sites.iperf(PLACES, f"-t {seconds} -O {WARM_UP} -C {control}")


def measure(options, folder, publics, profile):
    """By congestion control, the medians of line A, line B, and both."""
    results = {control: {used: [] for used in ((1,), (2,), (1, 2))} for control in options.control.split(",")}
    for seed in range(options.runs):
        for control, by_lines in results.items():
            for used, rates in by_lines.items():
                with joined(options, folder, publics, profile, seed, used):
                    rates.append(iperf(options.seconds, control))
                    if options.verbose:
                        print(run(f"{options.braid} site status {folder}/a.toml"), rates)
    return {control: [statistics.median(rates) for rates in it.values()] for control, it in results.items()}


def chosen(text):
    """The profiles of `1-4,9`."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from PROFILES[int(first) - 1 : int(last or first)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("braid", type=os.path.abspath)
    parser.add_argument("--profiles", default="1-16")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--control", default="cubic,bbr")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    bad = []
    with tempfile.TemporaryDirectory() as folder, sites.kept(PLACES):
        build()
        publics = sites.keys(options.braid, folder)
        print("profile       control     A      B     both  ratio  mqvpn: default  tuned")
        for profile in chosen(options.profiles):
            for control, (a, b, both) in measure(options, folder, publics, profile).items():
                ratio = both / max(a, b)
                published = f"{profile[3]:14.2f} {profile[4]:6.2f}"
                print(f"{profile[0]:<13} {control:<6} {a:6.1f} {b:6.1f} {both:7.1f} {ratio:6.2f} {published}", flush=True)
                bad += [f"{profile[0]} with {control}"] if ratio < LEAST else []
    if options.judge and bad:
        sys.exit(f"wanted at least {LEAST} of the better line: {', '.join(bad)}")


if __name__ == "__main__":
    main()
