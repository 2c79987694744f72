"""Loads several OpenFlow 1.3 controllers in turns by one generator, and prints a table with ratios.

    peers.py --braid PROGRAM --osken PROGRAM [--rounds 3] [--seconds 5] [--topology fattree:4] [--json FILE]

| controller         | what it decides for the first packet of a TCP connection                          |
|--------------------|-----------------------------------------------------------------------------------|
| braid              | admission by port, sender's place, policy, default path; a packet, and a rule     |
|                    | where the path has none yet                                                       |
| ovs-testcontroller | Open vSwitch's learning switch in C: the port of an address; a rule and a packet  |
| os-ken             | the learning switch of learning_switch.py: the same, in Python                    |

The controller has core 0 and the generator core 1. A round loads each controller, freshly started, one after the other; a
figure is the median of the rounds, in brackets the least and the greatest. The map of a whole network is asked of those
that discover links: os-ken by its own application for topologies. ovs-testcontroller knows none.

Faucet decides nothing for single packets, so there is no first packet to measure.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTROLLER_CORE, GENERATOR_CORE = "0", "1"
START_LIMIT = 20.0
# ovs-testcontroller takes 16 connections, of which one is asked whether it listens.
SWITCHES = 8


def braid(args, port):
    return [
        args.braid, "controller", "run", "--openflow", f"127.0.0.1:{port}", "--http", "127.0.0.1:0",
        "--port-packet-ins", "0", "--port-new-streams", "0",
    ]


def testcontroller(_, port):
    control = Path(tempfile.gettempdir()) / f"braid-peers-{os.getpid()}.ctl"
    return ["ovs-testcontroller", f"--unixctl={control}", "-O", "OpenFlow13", f"ptcp:{port}:127.0.0.1"]


def osken(args, port):
    command = [args.osken, "--ofp-listen-host", "127.0.0.1", "--ofp-tcp-listen-port", str(port)]
    return [*command, "--nouse-stderr", str(HERE / "learning_switch.py")]


def osken_links(args, port):
    return [*osken(args, port)[:-1], "--observe-links", "os_ken.topology.switches"]


FLOWS = {"braid": braid, "ovs-testcontroller": testcontroller, "os-ken": osken}
MAPS = {"braid": braid, "os-ken": osken_links}


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def answers(port):
    with socket.socket() as it:
        return it.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(args, command):
    """A controller on a port of its own; its process and the port."""
    port = free_port()
    words = ["taskset", "--cpu-list", CONTROLLER_CORE, *command(args, port)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_LIMIT
        while not answers(port):
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{words[3]} does not listen: {' '.join(words)}")
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def load(args, port, *words):
    """What the generator has measured, or none if the controller does not do what was asked."""
    command = ["taskset", "--cpu-list", GENERATOR_CORE, args.braid, "openflow", "load", *words]
    done = subprocess.run(
        [*command, "--openflow", f"127.0.0.1:{port}", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        print(f"peers.py: {words[0]}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def measure(args):
    """Figures of each controller by name, one for each round."""
    found = {}

    def note(what, who, value):
        # A controller that answers nothing has no figure.
        if value:
            found.setdefault(what, {}).setdefault(who, []).append(value)

    for number in range(args.rounds):
        for who, command in FLOWS.items():
            print(f"peers.py: round {number + 1} of {args.rounds}: {who}", file=sys.stderr)
            with running(args, command) as (process, port):
                result = load(args, port, "throughput", "--switches", str(SWITCHES), "--seconds", str(args.seconds))
                note("a second", who, result and result["answers_per_second"])
                note("memory", who, memory(process.pid))
            with running(args, command) as (_, port):
                result = load(args, port, "latency", "--switches", str(SWITCHES), "--count", "2000")
                note("p50", who, result and result["p50"])
                note("p99", who, result and result["p99"])
        for who, command in MAPS.items():
            with running(args, command) as (_, port):
                result = load(args, port, "discovery", "--topology", args.topology, "--silent-hosts", "--hold", "1", "--limit", "60")
                note("map", who, result and result["report"]["complete_after"])
    return found


def memory(pid):
    """The resident memory of a process at its greatest, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


ROWS = {
    "a second": ("first packets a second, {switches} switches", lambda it: f"{it:,.0f}", True),
    "p50": ("one under way, p50", lambda it: f"{it * 1e6:,.1f} µs", False),
    "p99": ("the same, p99", lambda it: f"{it * 1e6:,.1f} µs", False),
    "memory": ("memory", lambda it: f"{it / 1e6:,.1f} MB", False),
    "map": ("map of {topology} complete", lambda it: f"{it:,.2f} s", False),
}


def cell(what, figures, own):
    """The median, its range, and how many times better Braid is."""
    if not figures:
        return "-"
    _, text, more_is_better = ROWS[what]
    median = statistics.median(figures)
    cells = f"{text(median)} ({text(min(figures))} to {text(max(figures))})"
    if figures is own or not own:
        return cells
    ratio = statistics.median(own) / median
    return f"{cells}, {ratio if more_is_better else 1 / ratio:,.2f} x"


def table(args, found):
    print("| | " + " | ".join(FLOWS) + " |")
    print("|---|" + "---|" * len(FLOWS))
    for what, (title, _, _) in ROWS.items():
        of = found.get(what, {})
        cells = [cell(what, of.get(who), of.get("braid")) for who in FLOWS]
        print(f"| {title.format(switches=SWITCHES, topology=args.topology)} | " + " | ".join(cells) + " |")
    print("\nN x: how many times better Braid is.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", required=True)
    parser.add_argument("--osken", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="seconds of load for the figures a second")
    parser.add_argument("--topology", default="fattree:4", help="whose map is completed")
    parser.add_argument("--json", help="a file for every figure")
    args = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("peers.py: two cores are needed, one for the controller and one for the generator")
    found = measure(args)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    table(args, found)


if __name__ == "__main__":
    main()
