"""A lab with a controller of its own, streams through it, and a probe: what the checks beside have in common."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIO = HERE.parent / "scenarios" / "restart.yaml"
TRAFFIC = str(HERE / "traffic.py")
OPENFLOW = "127.0.0.1:6653"
LINKS = 62
# (from, to, connections, bytes in a burst, seconds between bursts)
STREAMS = [
    ("alpha", "10.0.0.2", 20, 150_000, 1.0),
    ("gamma", "10.0.0.4", 30, 2_000, 0.5),
    ("delta", "10.0.0.3", 30, 2_000, 0.5),
]
ADDRESS = {"echo": "10.0.0.6"}


class Lab:
    """A grid of 20 switches on Open vSwitch, removed at the end whatever happens."""

    def __init__(self, braid, name):
        self.braid = braid
        self.name = name
        self.running = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        return self

    def __exit__(self, *_):
        self.end()

    def deploy(self):
        """Builds it without a controller; what it consists of."""
        return json.loads(self.run("lab", "deploy", str(SCENARIO), "--name", self.name, "--no-controller", "--json"))

    def run(self, *command):
        try:
            return subprocess.run([self.braid, *command], check=True, capture_output=True, text=True).stdout
        except subprocess.CalledProcessError as error:
            error.add_note(error.stderr.strip())
            raise

    def inside(self, host, *command, stdin=None, stderr=None):
        """Starts a command on a host, or without one where the switches are."""
        where = [host] if host else []
        process = subprocess.Popen(
            [self.braid, "lab", "exec", self.name, *where, "--", *command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        self.running.append(process)
        return process

    def ovs(self, *command):
        return self.run("lab", "exec", self.name, "--", *command)

    def flows(self, switch):
        """The rules of a switch without what is counted, each with the time when it was written."""
        text = self.ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-flows", switch)
        rules = {}
        for line in text.splitlines():
            if age := re.search(r"duration=([\d.]+)s, ", line):
                rule = re.sub(r"(duration|n_packets|n_bytes)=[^ ]+ ", "", line).strip()
                rules[rule] = time.time() - float(age[1])
        return rules

    def groups(self, switch):
        text = self.ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-groups", switch)
        return sorted(line.strip() for line in text.splitlines() if "group_id" in line)

    def stop(self, process, patience=20):
        process.send_signal(signal.SIGTERM)
        return process.communicate(timeout=patience)[0]

    def end(self):
        # A second Ctrl-C would leave the lab behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run([self.braid, "lab", "destroy", self.name], check=False)


def controller(lab, log, *options):
    process = subprocess.Popen(
        [lab.braid, "lab", "exec", lab.name, "--", lab.braid, "controller", "run", "--openflow", OPENFLOW, *options],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    lab.running.append(process)
    process.stdout.readline()
    return process


def api(lab, resource):
    return json.loads(lab.ovs(lab.braid, resource, "--json"))[resource]


def wait_until(what, done, patience=60):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            sys.exit(f"still not so after {patience} s: {what}")
        time.sleep(0.5)


def streams_of(lab):
    paths = {}
    for transfer in api(lab, "transfers"):
        for stream in transfer["streams"]:
            key = (stream["src"], stream["src_port"], stream["dst"], stream["dst_port"])
            paths[key] = stream["path"]
    return paths


def connect(lab, switches):
    """Has switches connect to the lab's controller, and soon again when they lose it."""
    for switch in switches:
        lab.ovs(
            "ovs-vsctl", "set-controller", switch, f"tcp:{OPENFLOW}",
            "--", "set", "controller", switch, "max_backoff=1000", "connection_mode=out-of-band",
        )


def bring_up(lab, switches, log, *options):
    first = controller(lab, log, *options)
    connect(lab, switches)
    wait_until("all links are known", lambda: len(api(lab, "links")) == LINKS)
    time.sleep(3)
    return first


def start_traffic(lab, probes, record=()):
    """The streams, each open, and the probe, which writes `record` if that is a file."""
    servers = [lab.inside(host, "python3", TRAFFIC, "serve") for host in ("beta", "gamma", "delta", "echo")]
    for server in servers:
        server.stdout.readline()
    streams = []
    for host, to, count, burst, pause in STREAMS:
        process = lab.inside(host, "python3", TRAFFIC, "streams", to, str(count), str(burst), str(pause))
        streams.append(process)
        for _ in range(count):
            process.stdout.readline()
    probe = lab.inside("probe", "python3", TRAFFIC, "probe", ADDRESS["echo"], str(probes), *record)
    probe.stdout.readline()
    return streams, probe
