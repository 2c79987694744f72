#!/usr/bin/python3
"""Starts a controller, connects an emulated network to it, and judges whether the map becomes complete and stays so.

    discovery.py [--braid PROGRAM] [--topology NETWORK] [--limit SECONDS] [--hold SECONDS] [--rolling RATE] [--pod] [--json]

Needs no root: all sockets are on this machine. Exit code 5 if a link or host is missing or a link was lost, if an alarm was raised, or if the
controller closed a connection. With --rolling every switch loses its connection and joins again, so many a second, and with --pod all of a pod
at once: exit code 5 too if one does not join, if the map is not complete again, or if links of other switches were lost. Times are printed and not judged, except that the map has --limit seconds.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

UNMET = 5


def stop_in_order():
    """From now on signals end this script by the way of errors, so that it stops what it has started."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_once)


def stop_once(number, _):
    """A second signal disturbs nothing."""
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def start(program, log, *options):
    """The controller on free ports, and what it says of itself."""
    command = [program, "controller", "run", "--openflow", "127.0.0.1:0", "--http", "127.0.0.1:0", *options]
    controller = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
    line = controller.stdout.readline()
    if not line:
        controller.wait()
        sys.exit(f"discovery.py: the controller did not start; see {log.name}")
    return controller, json.loads(line)


def stop(process):
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


@contextlib.contextmanager
def stopping(process):
    """Stops a process at the end, whatever happens."""
    try:
        yield process
    finally:
        stop(process)


def load(args, controller, addresses):
    command = [
        args.braid, "openflow", "load", "discovery", "--judge", "--topology", args.topology,
        "--openflow", addresses["openflow"], "--api", f"http://{addresses['http']}", "--pid", str(controller.pid),
        "--limit", str(args.limit), "--hold", str(args.hold),
    ]
    command += ["--rolling", str(args.rolling)] if args.rolling else []
    command += ["--pod"] if args.pod else []
    return subprocess.run(command + (["--json"] if args.json else []), check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="target/release/braid")
    parser.add_argument("--topology", default="fattree:20")
    parser.add_argument("--limit", type=int, default=30, help="seconds until every link and host must be known")
    parser.add_argument("--hold", type=int, default=15, help="seconds for which the complete network is watched")
    parser.add_argument("--rolling", type=int, help="switches that then leave in a second, until each has left and joined again")
    parser.add_argument("--pod", action="store_true", help="all switches of a pod then leave at once and join again")
    parser.add_argument("--log", help="where the controller's log goes; to nowhere if it is not said")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    stop_in_order()
    with open(args.log or os.devnull, "w", encoding="utf-8") as log:
        controller, addresses = start(args.braid, log)
        with stopping(controller):
            began = time.monotonic()
            code = load(args, controller, addresses)
            print(f"discovery.py: {time.monotonic() - began:.0f} s, exit code {code}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
