#!/usr/bin/env python3
"""Runs a check again and again, unattended, and counts how often it fails or hangs.

Usage: tests/soak/repeat.py [--runs COUNT] [--patience SECONDS] [--folder FOLDER] COMMAND [ARGUMENT ...]

    sudo tests/soak/repeat.py --runs 200 tests/mininet/check torus,4,4

Writes what each run that failed printed into FOLDER (by default one that it makes), and one line of JSON in the end: how many passed,
failed and hung, and the least, median and most seconds of those that passed. A run that takes longer than PATIENCE gets SIGTERM, ten
seconds later SIGKILL, and counts as hung. Ends with 1 unless all passed; interrupted, it ends the run first.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRACE = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--patience", type=float, default=300, help="seconds")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if not given.command or given.runs < 1:
        parser.error("a command, and at least one run")
    given.folder = given.folder or Path(tempfile.mkdtemp(prefix="soak-"))
    given.folder.mkdir(parents=True, exist_ok=True)
    return given


def once(command, patience, output):
    """Whether a run passed, failed or hung, and its seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        outcome = "passed" if process.wait(patience) == 0 else "failed"
    except subprocess.TimeoutExpired:
        outcome = "hung"
    finally:
        end(process)
    return outcome, time.monotonic() - begin


def end(process):
    """Ends a run that has not ended by itself, with its processes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass


def soak(given):
    times = {"passed": [], "failed": [], "hung": []}
    for number in range(1, given.runs + 1):
        path = given.folder / f"{number}.txt"
        with path.open("w") as output:
            outcome, seconds = once(given.command, given.patience, output)
        times[outcome].append(seconds)
        if outcome == "passed":
            path.unlink()
        print(f"{number} of {given.runs}: {outcome} in {seconds:.1f} s", file=sys.stderr, flush=True)
    return times


def main():
    given = arguments()
    times = soak(given)
    passed = times["passed"]
    spread = [round(f(passed), 1) for f in (min, statistics.median, max)] if passed else None
    print(json.dumps({"command": given.command, **{name: len(each) for name, each in times.items()}, "seconds": spread}))
    if len(passed) < given.runs:
        sys.exit(f"what they printed: {given.folder}")


if __name__ == "__main__":
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, lambda number, _: sys.exit(128 + number))
    main()
