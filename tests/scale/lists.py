#!/usr/bin/python3
"""How long a controller takes to answer for lists of a large network, page by page and with filters, while switches talk to it.

    lists.py [--braid PROGRAM] [--topology NETWORK] [--limit SECONDS] [--rounds NUMBER] [--json]

An emulated network comes up, and once its map is complete and its hosts are known, each list is read again and again: its first
page, the page after that, and with a filter that only the last item fits. Prints a table of times. Exit code 5 if an answer is
wrong: items that are missing, twice, out of order, or do not fit. Times are printed and not judged. Needs no root; for times, a
quiet machine.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
from urllib.parse import quote

import discovery

PAGE = 1_000
# Emulated switches join from one address, and more than the controller lets in by default.
SWITCHES_PER_ADDRESS = "12000"
# Nothing more is expected after so many seconds without news.
SETTLED_AFTER = 15
# Each list, and what names an item of it.
LISTS = {
    "switches": lambda it: ("dpid", it["dpid"]),
    "links": lambda it: ("src.dpid", it["src"]["dpid"]),
    "hosts": lambda it: ("mac", it["mac"]),
}


class Reader:
    """A connection to the API, and how long each kind of question took."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address)
        self.times = {}

    def get(self, path, name=None):
        began = time.monotonic()
        self.connection.request("GET", path)
        response = self.connection.getresponse()
        body = response.read()
        if name is not None:
            self.times.setdefault(name, []).append(time.monotonic() - began)
        if response.status != 200:
            sys.exit(f"lists.py: {path} is answered with {response.status}: {body[:200]!r}")
        return body

    def page(self, name, question, kind=None):
        page = json.loads(self.get(f"/api/v1/{name}?{question}", kind and f"{name}, {kind}"))
        return page[name], page["next_cursor"]

    def every(self, name, question):
        """All items, page by page."""
        items, cursor = self.page(name, question)
        while cursor is not None:
            more, cursor = self.page(name, f"{question}&cursor={quote(cursor)}")
            items += more
        return items

    def totals(self):
        lines = self.get("/metrics?totals=true").decode().splitlines()
        return {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines if line and line[0] != "#" and "{" not in line}


def settle(reader, load, limit):
    """Waits until no more links and hosts become known."""
    known, since, began = None, time.monotonic(), time.monotonic()
    while time.monotonic() < began + limit and load.poll() is None:
        totals = reader.totals()
        now = (totals.get("braid_links"), totals.get("braid_hosts"))
        if now != known:
            known, since = now, time.monotonic()
        if known[0] and known[1] and time.monotonic() > since + SETTLED_AFTER:
            return
        time.sleep(1)
    sys.exit(f"lists.py: the network did not come up: {known}")


def check(reader):
    """What is wrong with the lists, read whole and with a filter."""
    wrong, totals = [], reader.totals()
    for name, key in LISTS.items():
        items = reader.every(name, f"limit={PAGE}")
        names = [json.dumps([it.get("dpid"), it.get("src"), it.get("mac")]) for it in items]
        if len(items) != totals[f"braid_{name}"] or len(set(names)) != len(names) or names != sorted(names, key=lambda it: order(json.loads(it))):
            wrong.append(f"{name}: {len(items)} items, {len(set(names))} different ones, of {totals[f'braid_{name}']:.0f}")
        field, value = key(items[-1])
        fit = [it for it in items if key(it)[1] == value]
        found = reader.every(name, f"limit={PAGE}&filter={quote(f'{field}={value}')}")
        if [key(it) for it in found] != [key(it) for it in fit]:
            wrong.append(f"{name}: {len(found)} items fit {field}={value}, not {len(fit)}")
        print(f"lists.py: {len(items)} {name}, {len(fit)} with {field}={value}", file=sys.stderr)
    return wrong


def order(identity):
    dpid, src, mac = identity
    return dpid or mac or (src["dpid"], src["port"])


def measure(reader, rounds):
    for _ in range(rounds):
        for name, key in LISTS.items():
            items, cursor = reader.page(name, f"limit={PAGE}", "first page")
            if cursor is None:
                continue
            items, _ = reader.page(name, f"limit={PAGE}&cursor={quote(cursor)}", "next page")
            field, value = key(items[-1])
            reader.page(name, f"limit=1&filter={quote(f'{field}={value}')}&cursor={quote(cursor)}", "filter")


def table(times):
    print("| answer | p50 | p99 | longest |\n|---|---|---|---|")
    for name, all_times in times.items():
        ordered = sorted(all_times)
        at = [ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], ordered[-1]]
        print(f"| {name} | " + " | ".join(f"{1e3 * it:.0f} ms" for it in at) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="target/release/braid")
    parser.add_argument("--topology", default="jellyfish:10000,18,100000")
    parser.add_argument("--limit", type=int, default=300, help="seconds until every link and host must be known")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--log", help="where the controller's log goes; to nowhere if it is not said")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    discovery.stop_in_order()
    with open(args.log or os.devnull, "w", encoding="utf-8") as log:
        controller, addresses = discovery.start(args.braid, log, "--switches-per-address", SWITCHES_PER_ADDRESS)
        command = [
            args.braid, "openflow", "load", "discovery", "--topology", args.topology, "--openflow", addresses["openflow"],
            "--api", f"http://{addresses['http']}", "--limit", str(args.limit), "--hold", "3600",
        ]
        with discovery.stopping(controller), discovery.stopping(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as load:
            reader = Reader(addresses["http"])
            settle(reader, load, args.limit)
            wrong = check(reader)
            measure(reader, args.rounds)
    print(json.dumps(reader.times)) if args.json else table(reader.times)
    for it in wrong:
        print(f"lists.py: {it}", file=sys.stderr)
    return discovery.UNMET if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
