#!/usr/bin/python3
"""Starts a controller, connects an emulated network to it, and judges whether the map becomes complete and stays so.

    discovery.py [--braid PROGRAM] [--topology NETWORK] [--limit SECONDS] [--hold SECONDS] [--json]

Needs no root: all sockets are on this machine. Exit code 5 if a link or host is missing or a link was lost, if an alarm was raised, or if the
controller closed a connection. Times are printed and not judged, except that the map has --limit seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import time

UNMET = 5


def start(program, log, *options):
    """The controller on free ports, and what it says of itself."""
    command = [program, "controller", "run", "--openflow", "127.0.0.1:0", "--http", "127.0.0.1:0", *options]
    controller = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
    line = controller.stdout.readline()
    if not line:
        controller.wait()
        sys.exit(f"discovery.py: the controller did not start; see {log.name}")
    return controller, json.loads(line)


def stop(controller):
    controller.terminate()
    try:
        controller.wait(timeout=10)
    except subprocess.TimeoutExpired:
        controller.kill()


def load(args, controller, addresses):
    command = [
        args.braid, "openflow", "load", "discovery", "--judge", "--topology", args.topology,
        "--openflow", addresses["openflow"], "--api", f"http://{addresses['http']}", "--pid", str(controller.pid),
        "--limit", str(args.limit), "--hold", str(args.hold),
    ]
    return subprocess.run(command + (["--json"] if args.json else []), check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="target/release/braid")
    parser.add_argument("--topology", default="fattree:20")
    parser.add_argument("--limit", type=int, default=30, help="seconds until every link and host must be known")
    parser.add_argument("--hold", type=int, default=15, help="seconds for which the complete network is watched")
    parser.add_argument("--log", help="where the controller's log goes; to nowhere if it is not said")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with open(args.log or os.devnull, "w", encoding="utf-8") as log:
        controller, addresses = start(args.braid, log)
        try:
            began = time.monotonic()
            code = load(args, controller, addresses)
            print(f"discovery.py: {time.monotonic() - began:.0f} s, exit code {code}", file=sys.stderr)
        finally:
            stop(controller)
    return code


if __name__ == "__main__":
    sys.exit(main())
