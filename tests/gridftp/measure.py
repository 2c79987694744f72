#!/usr/bin/env python3
"""Measures real GridFTP and announcements: `measure.py BRAID TOOLS topology-a|makepath`. Prints JSON lines.

topology-a   1 GB over four streams, with an assignment and without: table 1 of Huang et al. (2017)
makepath     how long a call takes, 100 a second, until the switches have confirmed
"""

import json
import statistics
import sys
import time

from testbed import HTTP, Testbed, same

SIZE = 1_000_000_000


def say(**row):
    print(json.dumps(row), flush=True)


def topology_a(braid, tools):
    with Testbed(braid, tools, "huang-a.yaml", "gridftp-a") as bed:
        bed.start_server()
        source, times = bed.make_file("source", SIZE), {}
        for name, environment in [("one path", None), ("assignment", "id")]:
            if environment:
                environment = bed.hook("hosta", MPATH_ASSIGNMENT_ID=bed.assign(4)[0])
            target = bed.folder / name.replace(" ", "-")
            times[name], _ = bed.copy(f"file://{source}", bed.url(target), 4, environment)
            say(what=name, seconds=round(times[name], 2), identical=same(source, target))
            target.unlink()
        say(what="ratio", value=round(times["one path"] / times["assignment"], 2))


MAKEPATH = """
import sys, time, xmlrpc.client
controller = xmlrpc.client.ServerProxy(sys.argv[1])
call = lambda name, id, port: getattr(controller, name)(id, "10.0.0.1", port, "10.0.0.2", 5201)
due, times = time.monotonic(), []
for begin in range(20000, 20600, 60):
    id = controller.AssignMultipath("10.0.0.1", "02:00:00:00:00:01", "10.0.0.2", 4)["id"]
    time.sleep(0.1)
    for port in range(begin, begin + 60):
        due = max(due + 0.01, time.monotonic())
        time.sleep(max(0, due - time.monotonic()))
        start = time.monotonic()
        call("MakePath", id, port)
        times.append(time.monotonic() - start)
    for port in range(begin, begin + 60):
        call("EndPath", id, port)
print(*times)
"""


def makepath(braid, tools):
    with Testbed(braid, tools, "huang-a.yaml", "gridftp-m") as bed:
        done = bed.inside(None, sys.executable, "-c", MAKEPATH, f"http://127.0.0.1:{HTTP}/RPC2")
        times = sorted(float(word) * 1e3 for word in done.stdout.split())
        say(what="MakePath", calls=len(times), p50_ms=round(statistics.median(times), 2),
            p99_ms=round(times[len(times) * 99 // 100], 2), worst_ms=round(times[-1], 2))


def main():
    braid, tools, what = sys.argv[1:]
    match what:
        case "topology-a":
            topology_a(braid, tools)
        case "makepath":
            makepath(braid, tools)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
