#!/usr/bin/python3
"""Deploys a large lab, and has a sample of its hosts ping each other.

    pingall.py SCENARIO [--braid PROGRAM] [--pairs NUMBER] [--seed NUMBER] [--json]

Needs root. Prints how long the lab took until its controller knew every switch and link, what its processes hold in memory, and
how many of the pairs reach each other. Exit code 5 if one does not.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AT_ONCE = 8


def braid(program, *command):
    return subprocess.run([program, *command], check=True, capture_output=True, text=True).stdout


def memory(folder):
    """Bytes by the name of the program, of the processes that have the lab's folder in their command."""
    held = Counter()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text().split("\0")
            status = (process / "status").read_text()
        except OSError:
            continue
        resident = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        if resident and any(folder in word for word in words):
            held[Path(words[0]).name.rstrip(":")] += int(resident[0]) * 1024
    return dict(held)


def ping(pair):
    source, target = pair
    command = ["nsenter", f"--net=/run/netns/{source['namespace']}", "ping", "-c", "1", "-w", "5", address(target)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def address(host):
    return host["interfaces"][0]["addresses"][0].split("/")[0]


def sample(hosts, number, seed):
    pairs = [(a, b) for a in hosts for b in hosts if a is not b]
    return random.Random(seed).sample(pairs, min(number, len(pairs)))


def measure(args):
    name = "pingall"
    start = time.monotonic()
    lab = json.loads(braid(args.braid, "lab", "deploy", args.scenario, "--name", name, "--json"))
    try:
        took = time.monotonic() - start
        held = memory(lab["folder"])
        pairs = sample(lab["hosts"], args.pairs, args.seed)
        start = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            reached = sum(pool.map(ping, pairs))
        return {
            "switches": len(lab["switches"]), "hosts": len(lab["hosts"]), "links": len(lab["links"]),
            "seconds": round(took, 1), "memory_bytes": held,
            "pairs": len(pairs), "reached": reached, "ping_seconds": round(time.monotonic() - start, 1),
        }
    finally:
        braid(args.braid, "lab", "destroy", name)


def text(row):
    held = ", ".join(f"{name} {count / 1e6:.0f} MB" for name, count in sorted(row["memory_bytes"].items()))
    return (f"{row['switches']} switches, {row['hosts']} hosts, {row['links']} links: up in {row['seconds']} s; {held}\n"
            f"{row['reached']} of {row['pairs']} pairs reach each other, in {row['ping_seconds']} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario")
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--pairs", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    row = measure(args)
    print(json.dumps(row) if args.json else text(row))
    return 0 if row["reached"] == row["pairs"] else 5


if __name__ == "__main__":
    sys.exit(main())
