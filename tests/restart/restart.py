#!/usr/bin/python3
"""Kills the controller while streams run, starts it again, and counts what was lost and what was written.

    restart.py [--braid PROGRAM] [--away SECONDS] [--probes PER_SECOND]

Needs root. Prints one line of JSON; exit code 5 if a probe was lost, a stream broke, or a rule was written again.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from testbed import LINKS, Lab, api, bring_up, controller, start_traffic, streams_of, wait_until  # noqa: E402


def compare(before, after):
    """Rules that were written again, that are new, and that are gone."""
    rewritten = [rule for rule, written in after.items() if rule in before and written > before[rule] + 5]
    new = [rule for rule in after if rule not in before]
    return rewritten, new, [rule for rule in before if rule not in after]


def check(lab, arguments, log):
    switches = [switch["name"] for switch in lab.deploy()["switches"]]
    running = bring_up(lab, switches, log)
    streams, probe = start_traffic(lab, arguments.probes)
    time.sleep(5)
    paths = streams_of(lab)
    before = {switch: (lab.flows(switch), lab.groups(switch)) for switch in switches}
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    killed = time.time()
    time.sleep(arguments.away)
    controller(lab, log)
    started = time.time()
    wait_until("all links are known again", lambda: len(api(lab, "links")) == LINKS)
    time.sleep(15)
    after = {switch: (lab.flows(switch), lab.groups(switch)) for switch in switches}
    compared = [compare(before[switch][0], after[switch][0]) for switch in switches]
    same_paths = streams_of(lab) == paths
    told = json.loads(lab.stop(probe).splitlines()[-1])
    ended = [json.loads(lab.stop(process).splitlines()[-1]) for process in streams]
    result = {
        "schema": "braid/v1",
        "switches": len(switches),
        "streams": len(paths),
        "rules": sum(len(flows) for flows, _ in after.values()),
        "away_seconds": round(started - killed, 1),
        "probes": {key: told[key] for key in ("sent", "lost", "twice")},
        "lost_at": [round(at - killed, 2) for at in told["lost_at"]],
        "streams_broken": [failure for end in ended for failure in end["failed"]],
        "bytes": sum(sum(end["bytes"]) for end in ended),
        "rules_rewritten": sum(len(rewritten) for rewritten, _, _ in compared),
        "rules_new": sum(len(new) for _, new, _ in compared),
        "rules_gone": sum(len(gone) for _, _, gone in compared),
        "groups_changed": sum(before[switch][1] != after[switch][1] for switch in switches),
        "same_paths": same_paths,
    }
    print(json.dumps(result))
    written = result["rules_rewritten"] + result["rules_new"] + result["rules_gone"] + result["groups_changed"]
    clean = same_paths and not (told["lost"] or told["twice"] or result["streams_broken"] or written)
    return 0 if clean else 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--away", type=float, default=60)
    parser.add_argument("--probes", type=int, default=1000)
    parser.add_argument("--log", default="/dev/null", help="what the controllers say")
    arguments = parser.parse_args()
    with Lab(arguments.braid, "restart-check") as lab, open(arguments.log, "w") as log:
        sys.exit(check(lab, arguments, log))


if __name__ == "__main__":
    main()
