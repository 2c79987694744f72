#!/usr/bin/env python3
"""Runs a command while this machine's cores are taken away time and again, as a busy host does with those of a virtual machine.

Usage, as root: tests/edge/disturb.py [--often MS,MS] [--long MS,MS] [--seed N] COMMAND...

Each core is taken for some milliseconds, again some milliseconds later (--often, both in the mean, 4,15), and all at once for longer
(--long, 48,400). Prints which part of the cores was taken and ends as the command does.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from multiprocessing import Array, Event, Process, parent_process


def pair(text):
    taken, left = (float(it) / 1000 for it in text.split(","))
    return taken, left


def take(core, priority, moments, ended, used, place):
    """Takes a core at these moments for so long each, until the command has ended."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    for at, length in moments:
        time.sleep(max(at - time.monotonic(), 0))
        if ended.is_set() or not parent_process().is_alive():
            return
        until = time.monotonic() + length
        while time.monotonic() < until:
            pass
        used[place] = time.process_time()


def often(seed, start, taken, left):
    chance, at = random.Random(seed), start
    while True:
        at = max(at + chance.expovariate(1 / left), time.monotonic())
        length = chance.expovariate(1 / taken)
        yield at, length
        at += length


def long(seed, start, taken, left):
    """The same moments on all cores."""
    chance, at = random.Random(seed), start
    while True:
        at += taken + chance.expovariate(1 / left)
        yield at, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--often", type=pair, default=(0.004, 0.015), metavar="MS,MS")
    parser.add_argument("--long", type=pair, default=(0.048, 0.4), metavar="MS,MS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if os.geteuid() != 0 or not options.command:
        parser.error("name a command, and be root: others may not take cores")
    # The command gets the signal as well, and ends by itself.
    signal.signal(signal.SIGINT, lambda *_: None)
    cores, ended, began, takers = os.sched_getaffinity(0), Event(), time.monotonic(), []
    used = Array("d", 2 * len(cores))
    for core in cores:
        kinds = [(90, often(options.seed + 1 + core, began, *options.often)), (91, long(options.seed, began, *options.long))]
        for priority, moments in kinds:
            arguments = (core, priority, moments, ended, used, len(takers))
            takers.append(Process(target=take, args=arguments))
    for taker in takers:
        taker.start()
    try:
        status = subprocess.run(options.command).returncode
    finally:
        ended.set()
        for taker in takers:
            taker.join()
    if any(taker.exitcode != 0 for taker in takers):
        sys.exit("the cores could not be taken")
    part = sum(used) / (time.monotonic() - began) / len(cores)
    print(f"{part:.0%} of the cores were taken", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
