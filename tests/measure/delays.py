#!/usr/bin/python3
"""Compares the delays that the controller measures with those that the links of a lab have.

    delays.py [--braid PROGRAM] [--seconds SECONDS] [--json]

Needs root. Builds a ring of switches whose links take 1 to 100 ms, waits, and asks the controller. Exit code 5 if a reading is
off by more than 0.5 ms and by more than 2 %.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

DELAYS = [1, 2, 5, 10, 20, 50, 100]
LAB = "delays"


def scenario():
    """Switch N and the next one are joined by a link of the N-th delay."""
    count = len(DELAYS)
    links = [f"    - {{ between: [s{at}, s{(at + 1) % count}], rate: 100Mbit, delay: {delay}ms }}"
             for at, delay in enumerate(DELAYS)]
    switches = ", ".join(f"s{at}" for at in range(count))
    host = "    - {{ name: {0}, interfaces: [{{ name: eth0, addresses: [10.0.0.{1}/24] }}] }}"
    hosts = [host.format("a", 1), host.format("b", 2)]
    attached = ["    - { between: [a.eth0, s0], rate: 100Mbit }", "    - { between: [b.eth0, s3], rate: 100Mbit }"]
    lines = [f"scenario: {LAB}", "topology:", "  hosts:", *hosts, f"  switches: [{switches}]", "  links:", *links, *attached]
    return "\n".join(lines) + "\n"


def true_delays():
    """By pair of datapath ids, in milliseconds: switches are numbered from 1."""
    count = len(DELAYS)
    pairs = {(at + 1, (at + 1) % count + 1): delay for at, delay in enumerate(DELAYS)}
    return pairs | {(b, a): delay for (a, b), delay in pairs.items()}


def links(http):
    with urllib.request.urlopen(f"http://{http}/api/v1/links", timeout=10) as answer:
        return json.load(answer)["links"]


def compare(measured):
    truth = true_delays()
    rows = []
    for link in measured:
        ends = tuple(int(link[end]["dpid"], 16) for end in ("src", "dst"))
        delay, reading = truth[ends], (link["delay_us"] or {}).get("base")
        error = None if reading is None else reading / 1e3 - delay
        good = error is not None and abs(error) <= max(0.5, 0.02 * delay)
        rows.append({"from": ends[0], "to": ends[1], "true_ms": delay, "error_ms": error, "ok": good})
    return sorted(rows, key=lambda row: (row["true_ms"], row["from"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--seconds", type=float, default=30, help="how long the controller measures")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "delays.yaml"
        file.write_text(scenario())
        deploy = [arguments.braid, "lab", "deploy", str(file), "--json"]
        lab = json.loads(subprocess.run(deploy, check=True, stdout=subprocess.PIPE).stdout)
        try:
            time.sleep(arguments.seconds)
            rows = compare(links(lab["controller"]["http"]))
        finally:
            subprocess.run([arguments.braid, "lab", "destroy", LAB], check=True, stdout=subprocess.DEVNULL)
    ok = len(rows) == 2 * len(DELAYS) and all(row["ok"] for row in rows)
    if arguments.json:
        print(json.dumps({"schema": "braid/v1", "links": rows, "ok": ok}))
    else:
        for row in rows:
            error = "not measured" if row["error_ms"] is None else f"{row['error_ms']:+.3f} ms"
            print(f"{row['from']} > {row['to']}  {row['true_ms']:4} ms  {error}{'' if row['ok'] else '  FAIL'}")
    sys.exit(0 if ok else 5)


if __name__ == "__main__":
    main()
