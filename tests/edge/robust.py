#!/usr/bin/env python3
"""What the edge's packet path stands: a GiB through paths that do everything to it, and forged flows. Figures for docs.

Usage: tests/edge/robust.py [MIB]

Runs the tests of core/switch that do it, in the release profile: a transfer of MIB (1024) through two switches and two paths that delay,
lose, reorder and double what passes, of which the SHA-256 is compared and the longest wait measured; and ten thousand forged flows, of
which the memory is. Needs no rights.
"""

import os
import re
import subprocess
import sys
import time

TESTS = {"it": "whole::", "memory": "forged_flows"}


def run(target, name, mib):
    words = ["cargo", "test", "--release", "-q", "-p", "braid-switch", "--test", target, name, "--", "--nocapture"]
    start = time.monotonic()
    result = subprocess.run(words, env=os.environ | {"BRAID_TEST_MIB": str(mib)}, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        if re.match(r"\d", line):
            print(f"{line} ({time.monotonic() - start:.0f} s)")
    if result.returncode:
        sys.exit(result.stdout + result.stderr)


def main():
    mib = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    for target, name in TESTS.items():
        run(target, name, mib)


if __name__ == "__main__":
    main()
