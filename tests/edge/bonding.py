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
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import edge
from edge import inside, run

NAME = f"bond{os.getpid()}"
HOSTS = [f"{NAME}h{side}" for side in "ab"]
SITES = [f"{NAME}s{side}" for side in "ab"]
LINES = f"{NAME}l"
SPACES = [*HOSTS, *SITES, LINES]
PORT = 51820
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
    for space in SPACES:
        run(f"ip netns add {space}")
        run(f"ip -n {space} link set lo up")
        inside(space, "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0")
    for side, (host, site) in enumerate(zip(HOSTS, SITES)):
        edge.cable((host, "eth"), (site, "lan"))
        run(f"ip -n {host} address add 10.{side + 1}.0.2/24 dev eth")
        run(f"ip -n {site} address add 10.{side + 1}.0.1/24 dev lan")
        run(f"ip -n {host} route add default via 10.{side + 1}.0.1")
        for line in (1, 2):
            end = f"{'ab'[side]}{line}"
            edge.cable((site, f"wan{line}"), (LINES, end))
            for space, device in ((site, f"wan{line}"), (LINES, end)):
                inside(space, f"ethtool -K {device} tx off tso off gso off gro off")
                inside(space, f"sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1")
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
def lines(braid, folder, profile, seed):
    """The link process of a profile."""
    links = [
        {"devices": [f"a{line}", f"b{line}"], "directions": [direction(*profile[line])] * 2} for line in (1, 2)
    ]
    setup = {"socket": f"{folder}/lines.sock", "seed": seed, "links": links}
    command = ["ip", "netns", "exec", LINES, braid, "lab", "link", "serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    try:
        process.stdin.write(json.dumps(setup))
        process.stdin.close()
        yield
    finally:
        stop(process)


def keys(braid, folder):
    return [run(f"{braid} site keygen {folder}/{side}.key").strip() for side in "ab"]


def files(folder, publics, used):
    """The files of both sites with these lines."""
    paths = "".join(f'[[peer.path]]\nuplink = "wan{line}"\naddress = "192.168.{line}.2:{PORT}"\n' for line in used)
    for side in (0, 1):
        text = f'private_key = "{"ab"[side]}.key"\nstatus = "{folder}/{"ab"[side]}.sock"\n'
        text += "".join(f'[[uplink]]\ninterface = "wan{line}"\n' for line in used)
        text += f'[[peer]]\nname = "other"\npublic_key = "{publics[1 - side]}"\nnetworks = ["10.{2 - side}.0.0/16"]\n'
        text += paths if side == 0 else ""
        text += "[lan]\n"
        Path(folder, f"{'ab'[side]}.toml").write_text(text)
    return [f"{folder}/{side}.toml" for side in "ab"]


@contextlib.contextmanager
def sites(braid, configs, count):
    """Both sites, as soon as all paths are up and their lengths are known."""
    processes = []
    try:
        for space, config in zip(SITES, configs):
            log = open(f"{config}.log", "w")
            command = f"ip netns exec {space} {braid} site run {config}"
            processes.append(subprocess.Popen(command.split(), stdout=subprocess.PIPE, stderr=log, text=True))
            json.loads(processes[-1].stdout.readline())
        until(lambda: ready(braid, configs, count))
        yield processes
    except BaseException:
        for config in configs:
            print(config, Path(f"{config}.log").read_text()[-2000:], sep="\n", file=sys.stderr)
        raise
    finally:
        for process in processes:
            stop(process)


def ready(braid, configs, count):
    for config in configs:
        status = json.loads(run(f"{braid} site status {config} --json"))
        paths = [path for path in status["peers"][0]["paths"] if path["up"] and path["mtu"] > 1400]
        if len(paths) < count or status["mtu"] < 1400:
            return False
    return True


def until(done, patience=30):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            sys.exit(f"the sites are not ready after {patience} s")
        time.sleep(0.3)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


def iperf(seconds, control):
    server = subprocess.Popen(f"ip netns exec {HOSTS[1]} iperf3 -s -1".split(), stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        command = f"iperf3 -c 10.2.0.2 -t {seconds} -O {WARM_UP} -C {control} --json"
        result = json.loads(inside(HOSTS[0], command, check=False))
        if "error" in result:
            sys.exit(f"iperf3: {result['error']}")
        return edge.received(result["end"])
    finally:
        server.kill()
        server.wait()


def measure(options, folder, publics, profile):
    """By congestion control, the medians of line A, line B, and both."""
    results = {control: {used: [] for used in ((1,), (2,), (1, 2))} for control in options.control.split(",")}
    for seed in range(options.runs):
        for control, by_lines in results.items():
            for used, rates in by_lines.items():
                with lines(options.braid, folder, profile, seed):
                    with sites(options.braid, files(folder, publics, used), len(used)):
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
    with tempfile.TemporaryDirectory() as folder:
        try:
            build()
            publics = keys(options.braid, folder)
            print("profile       control     A      B     both  ratio  mqvpn: default  tuned")
            for profile in chosen(options.profiles):
                for control, (a, b, both) in measure(options, folder, publics, profile).items():
                    ratio = both / max(a, b)
                    published = f"{profile[3]:14.2f} {profile[4]:6.2f}"
                    print(f"{profile[0]:<13} {control:<6} {a:6.1f} {b:6.1f} {both:7.1f} {ratio:6.2f} {published}", flush=True)
                    bad += [f"{profile[0]} with {control}"] if ratio < LEAST else []
        finally:
            for space in SPACES:
                run(f"ip netns delete {space}", check=False)
    if options.judge and bad:
        sys.exit(f"wanted at least {LEAST} of the better line: {', '.join(bad)}")


if __name__ == "__main__":
    main()
