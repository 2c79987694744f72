#!/usr/bin/env python3
"""One plain TCP flow beside one MPTCP connection of two subflows, over one bottleneck.

Usage, as root: tests/host/fairness.py BRAID [SECONDS [RUNS]]

Makes network namespaces for a sender, a router and a receiver, with a bottleneck of 20 Mbit/s (TBF) behind the router
that both of the sender's addresses pass, starts `braid host run --congestion ALGORITHM` in the sender's, and prints which
share of the link the plain flow keeps. Ends with 1 if it keeps less than 0.45 beside LIA or BALIA, or no less beside subflows that are not coupled.
"""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

RATE = "20mbit"
QUEUE = "50ms"
# Short enough for the names of interfaces.
NAMESPACES = SENDER, ROUTER, RECEIVER = [f"fair{os.getpid()}{letter}" for letter in "abc"]
ALGORITHMS = ["uncoupled", "lia", "olia", "balia"]
KEEPS = 0.45


def run(words, **options):
    return subprocess.run(words.split(), check=True, capture_output=True, text=True, **options).stdout


def inside(namespace):
    # `ip netns exec` would hide the kernel's types, which BPF programs need.
    return ["nsenter", f"--net=/run/netns/{namespace}"]


@contextlib.contextmanager
def network():
    try:
        build()
        yield
    finally:
        for namespace in NAMESPACES:
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)


def build():
    for namespace in NAMESPACES:
        run(f"ip netns add {namespace}")
        run(f"ip -n {namespace} link set lo up")
        run(f"ip -n {namespace} mptcp limits set subflow 8 add_addr_accepted 8")
    cable(SENDER, "10.77.1", ["10.77.1.1/24", "10.77.1.3/24"])
    cable(RECEIVER, "10.77.2", ["10.77.2.1/24"])
    subprocess.run([*inside(ROUTER), "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
    run(f"ip -n {SENDER} mptcp endpoint add 10.77.1.3 dev wire subflow")
    # Not in the sender, which would feel its own queue (TSQ) before it feels losses.
    run(f"tc -n {ROUTER} qdisc add dev {RECEIVER} root tbf rate {RATE} burst 3kb latency {QUEUE}")


def cable(host, prefix, addresses):
    """Joins a host to the router, whose end has the host's name."""
    run(f"ip -n {host} link add wire type veth peer name {host} netns {ROUTER}")
    for namespace, device in ((host, "wire"), (ROUTER, host)):
        # GSO packets would fill the bottleneck's queue in one go.
        subprocess.run([*inside(namespace), "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"],
                       check=True, capture_output=True)
        run(f"ip -n {namespace} link set {device} up")
    for address in addresses:
        run(f"ip -n {host} address add {address} dev wire")
    run(f"ip -n {ROUTER} address add {prefix}.254/24 dev {host}")
    run(f"ip -n {host} route add default via {prefix}.254")


@contextlib.contextmanager
def agent(braid, algorithm):
    command = [*inside(SENDER), braid, "host", "run", "--congestion", algorithm]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if not process.stdout.readline():
            sys.exit(f"the agent did not start: {process.wait()}")
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextlib.contextmanager
def server(port, mptcp):
    wrap = ["mptcpize", "run"] if mptcp else []
    process = subprocess.Popen([*inside(RECEIVER), *wrap, "iperf3", "-s", "-p", str(port)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        yield
    finally:
        process.terminate()
        process.wait()


def client(port, seconds, mptcp, congestion):
    wrap = ["mptcpize", "run"] if mptcp else []
    command = [*inside(SENDER), *wrap, "iperf3", "-c", "10.77.2.1", "-p", str(port), "-t", str(seconds), "-O", "5",
               "--json", *congestion]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def rate(process):
    answer = json.loads(process.communicate()[0])
    if "error" in answer:
        sys.exit(f"iperf3: {answer['error']}")
    return answer["end"]["sum_received"]["bits_per_second"]


def share(seconds):
    with server(5201, False), server(5202, True):
        coupled = client(5202, seconds, True, [])
        plain = client(5201, seconds, False, ["-C", "reno"])
        plain, coupled = rate(plain), rate(coupled)
        return plain / (plain + coupled), plain + coupled


def main():
    braid = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    kept = {}
    print(f"{'ALGORITHM':<11} {'PLAIN TCP KEEPS':<17} {'OF Mbit/s':<10} RUNS")
    for algorithm in ALGORITHMS:
        with network(), agent(braid, algorithm):
            results = [share(seconds) for _ in range(runs)]
        kept[algorithm] = statistics.mean(kept for kept, _ in results)
        total = statistics.mean(total for _, total in results) / 1e6
        each = " ".join(f"{kept:.2f}" for kept, _ in results)
        print(f"{algorithm:<11} {kept[algorithm]:<17.3f} {total:<10.1f} {each}", flush=True)
    fair = all(kept[algorithm] >= KEEPS for algorithm in ("lia", "balia"))
    return 0 if fair and kept["uncoupled"] < KEEPS else 1


if __name__ == "__main__":
    sys.exit(main())
