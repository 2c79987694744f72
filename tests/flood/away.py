#!/usr/bin/python3
"""Kills the controller for so long that hosts ask their neighbours many times whether they are still there.

    away.py [--braid PROGRAM] [--away SECONDS]

The hosts of a FatTree of 20 switches on Open vSwitch believe in a neighbour for a second instead of half a minute, and
send datagrams, which prove nothing to a kernel. Needs root. Prints one line of JSON; exit code 5 if one was lost.
"""

import argparse
import json
import os
import signal
import sys
import time

from flood import HOSTS, LAB, LOAD, Lab, address, bring_up

# Of the kernel's neighbour tables; the least that they take.
REACHABLE = {"base_reachable_time_ms": "1000", "delay_first_probe_time": "1"}
ASKING = {1: 2, 3: 4, 5: 12, 9: 16}
PER_SECOND = 50


def hasten(lab):
    for host in range(1, HOSTS + 1):
        for protocol in ("ipv4", "ipv6"):
            for name, value in REACHABLE.items():
                path = f"/proc/sys/net/{protocol}/neigh/eth0/{name}"
                lab.run("lab", "exec", LAB, f"h{host}", "--", "sh", "-c", f"echo {value} > {path}")


def check(lab, arguments, log):
    controller = bring_up(lab, [], log)
    hasten(lab)
    for host in ASKING.values():
        lab.on(host, LOAD, "serve")
    asking = [lab.on(src, LOAD, "ask", PER_SECOND, address(dst)) for src, dst in ASKING.items()]
    time.sleep(10)
    # What is lost until neighbours have found each other is none of this.
    for process in asking:
        lab.stop(process)
    asking = [lab.on(src, LOAD, "ask", PER_SECOND, address(dst)) for src, dst in ASKING.items()]
    time.sleep(3)
    os.kill(controller.pid, signal.SIGKILL)
    controller.wait()
    killed = time.time()
    time.sleep(arguments.away)
    told = [json.loads(lab.stop(process).splitlines()[-1]) for process in asking]
    return {
        "schema": "braid/v1",
        "away_seconds": round(time.time() - killed),
        "sent": sum(one["sent"] for one in told),
        "lost": sum(one["lost"] for one in told),
        "lost_at": [round(at - killed, 2) for one in told for at in one["lost_at"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--away", type=float, default=130)
    parser.add_argument("--log", default="/dev/null", help="what the controller says")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lab = Lab(arguments.braid)
    try:
        with open(arguments.log, "w") as log:
            result = check(lab, arguments, log)
    finally:
        lab.end()
    print(json.dumps(result))
    sys.exit(5 if result["lost"] else 0)


if __name__ == "__main__":
    main()
