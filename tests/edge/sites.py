"""Two sites with a host each, in network namespaces: what the checks of sites on the Internet have in common.

    host - site = ... = site - host

Namespaces and processes go whatever happens, SIGTERM and SIGINT included.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import edge
from edge import inside, run

PORT = 51820
SIDES = "ab"


class Places:
    """The namespaces of one run, by their names."""

    def __init__(self, prefix, between):
        self.name = f"{prefix}{os.getpid()}"
        self.hosts = [f"{self.name}h{side}" for side in SIDES]
        self.sites = [f"{self.name}s{side}" for side in SIDES]
        self.between = [f"{self.name}{name}" for name in between]

    def all(self):
        return [*self.hosts, *self.sites, *self.between]


@contextlib.contextmanager
def kept(places):
    """Hosts, sites and what is between them; all are removed at the end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_once)
    try:
        for space in places.all():
            run(f"ip netns add {space}")
            run(f"ip -n {space} link set lo up")
            inside(space, "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0")
        for side, (host, site) in enumerate(zip(places.hosts, places.sites), 1):
            edge.cable((host, "eth"), (site, "lan"))
            run(f"ip -n {host} address add 10.{side}.0.2/24 dev eth")
            run(f"ip -n {site} address add 10.{side}.0.1/24 dev lan")
            run(f"ip -n {host} route add default via 10.{side}.0.1")
        yield
    finally:
        for space in places.all():
            run(f"ip netns delete {space}", check=False)


def stop_once(number, _):
    """Ends by the way of errors, so that everything is removed, which a second signal does not disturb."""
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


def plain(space, device):
    """An end of a line in user space: whole frames, with their checksums, and none of the kernel's own."""
    inside(space, f"ethtool -K {device} tx off tso off gso off gro off")
    inside(space, f"sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1")


@contextlib.contextmanager
def lines(braid, folder, space, directions, seed):
    """The process of the lines between the devices a1 and b1, a2 and b2 of a namespace, alike in both directions."""
    links = [
        {"devices": [f"a{number}", f"b{number}"], "directions": [direction] * 2}
        for number, direction in enumerate(directions, 1)
    ]
    setup = {"socket": f"{folder}/lines.sock", "seed": seed, "links": links}
    command = ["ip", "netns", "exec", space, braid, "lab", "link", "serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    try:
        process.stdin.write(json.dumps(setup))
        process.stdin.close()
        yield
    finally:
        stop(process)


def keys(braid, folder):
    return [run(f"{braid} site keygen {folder}/{side}.key").strip() for side in SIDES]


def files(folder, publics, dialled, first=""):
    """The files of both sites; `dialled` has the address or name of the right one for each uplink of the left one."""
    paths = "".join(f'[[peer.path]]\nuplink = "wan{uplink}"\naddress = "{dialled[uplink]}:{PORT}"\n' for uplink in dialled)
    for side in (0, 1):
        text = f'{first}private_key = "{SIDES[side]}.key"\nstatus = "{folder}/{SIDES[side]}.sock"\n'
        text += "".join(f'[[uplink]]\ninterface = "wan{uplink}"\n' for uplink in dialled)
        text += f'[[peer]]\nname = "other"\npublic_key = "{publics[1 - side]}"\nnetworks = ["10.{2 - side}.0.0/16"]\n'
        text += paths if side == 0 else ""
        text += "[lan]\n"
        Path(folder, f"{SIDES[side]}.toml").write_text(text)
    return [f"{folder}/{side}.toml" for side in SIDES]


@contextlib.contextmanager
def running(braid, places, configs, hosts="/etc/hosts"):
    """Both sites, for which names of hosts lead where this file says."""
    processes = []
    try:
        for space, config in zip(places.sites, configs):
            run(f"{braid} site check {config}")
            # The namespace's commands have mounts of their own.
            named = f"mount --bind {hosts} /etc/hosts && exec {braid} site run {config}"
            with open(f"{config}.log", "w") as log:
                command = ["ip", "netns", "exec", space, "sh", "-c", named]
                processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
            json.loads(processes[-1].stdout.readline())
        yield processes
    except BaseException:
        for config in configs:
            log = Path(f"{config}.log")
            print(log.name, log.read_text()[-3000:] if log.exists() else "", sep="\n", file=sys.stderr)
        raise
    finally:
        for process in processes:
            stop(process)


def status(braid, config):
    return json.loads(run(f"{braid} site status {config} --json"))


def paths(braid, config):
    return status(braid, config)["peers"][0]["paths"]


def until(what, done, patience=20):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            sys.exit(f"still not so after {patience} s: {what}")
        time.sleep(0.2)


@contextlib.contextmanager
def server(places):
    """An iperf3 server on the right host, for one run."""
    process = subprocess.Popen(f"ip netns exec {places.hosts[1]} iperf3 -s -1".split(), stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def iperf(places, options):
    """What the right host receives, in Mbit/s."""
    with server(places):
        result = json.loads(inside(places.hosts[0], f"iperf3 -c 10.2.0.2 {options} --json", check=False))
        if "error" in result:
            sys.exit(f"iperf3: {result['error']}")
        return edge.received(result["end"])
