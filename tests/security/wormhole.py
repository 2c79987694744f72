#!/usr/bin/python3
"""Two hosts pass each other's discovery frames on, and so pose as a link: measures how long that takes traffic away.

    wormhole.py [--braid PROGRAM] [--json] [--log FILE]

Needs root. Three switches in a row on Open vSwitch, with datagrams at 1 kHz from the first to the last. A silent host at the
first and one at the last relay discovery frames and nothing else. Exit code 5 if no alarm names the false link, if traffic does
not return to the true links, or if the false link is used again.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from testbed import TRAFFIC, Lab, api, connect, controller, wait_until  # noqa: E402

SCENARIO = """
scenario: wormhole
description: Two hosts pose as a link.
topology:
  hosts:
    - { name: left, congestion_control: cubic, interfaces: [{ name: eth0, addresses: [10.0.0.1/24] }] }
    - { name: right, congestion_control: cubic, interfaces: [{ name: eth0, addresses: [10.0.0.2/24] }] }
    - { name: thief, congestion_control: cubic, interfaces: [{ name: eth0, addresses: [10.0.0.8/24] }] }
    - { name: fence, congestion_control: cubic, interfaces: [{ name: eth0, addresses: [10.0.0.9/24] }] }
  switches: [a, b, c]
  links:
    - { between: [left.eth0, a], rate: 1Gbit }
    - { between: [right.eth0, b], rate: 1Gbit }
    - { between: [thief.eth0, a], rate: 1Gbit }
    - { between: [fence.eth0, b], rate: 1Gbit }
    - { between: [a, c], rate: 1Gbit, delay: 1ms }
    - { between: [c, b], rate: 1Gbit, delay: 1ms }
traffic:
  tool: iperf3
  modes: [mptcp]
  directions:
    - { from: left, to: right }
  duration: 5s
"""
ACCOMPLICES = ("thief", "fence")
RELAY = str(Path(__file__).resolve().parent / "relay.py")
TRUE_LINKS = 4
LLDP = "88cc"
# The false link is found by what it loses, like any link that loses frames; on a machine that others use it takes longer.
FOUND_WITHIN = 20
# Longer than a lossy link is avoided at first.
HELD = 45
# Datagrams that are not answered once the link is found: those under way.
STRAY = 500


def silence(lab):
    """Hosts that say nothing by themselves, behind ports that have forgotten what they said."""
    for host in ACCOMPLICES:
        for command in ("ip link set eth0 down", "ip address flush dev eth0", "sysctl -q net.ipv6.conf.eth0.disable_ipv6=1"):
            lab.inside(host, *command.split()).wait()
    # Open vSwitch and the controller have seen them gone.
    time.sleep(7)
    for host in ACCOMPLICES:
        lab.inside(host, "ip", "link", "set", "eth0", "arp", "off", "up").wait()


def start(lab, folder, log):
    scenario = Path(folder) / "wormhole.yaml"
    scenario.write_text(SCENARIO)
    text = lab.run("lab", "deploy", str(scenario), "--name", lab.name, "--no-controller", "--json")
    controller(lab, log)
    switches = json.loads(text)["switches"]
    connect(lab, [switch["name"] for switch in switches])
    wait_until("all links are known", lambda: len(api(lab, "links")) == TRUE_LINKS)
    silence(lab)
    return {switch["name"]: switch["dpid"] for switch in switches}


def open_wormhole(lab, folder):
    path = str(Path(folder) / "relay")
    for role, host in zip(("listen", "connect"), ACCOMPLICES):
        lab.inside(host, "python3", RELAY, role, path, "eth0", LLDP).stdout.readline()


def measure(lab, log, folder):
    dpids = start(lab, folder, log)
    lab.inside("right", "python3", TRAFFIC, "serve").stdout.readline()
    record = Path(folder) / "probe"
    probe = lab.inside("left", "python3", TRAFFIC, "probe", "10.0.0.2", "1000", str(record))
    probe.stdout.readline()
    time.sleep(5)
    ends = {(dpids["a"], dpids["b"]), (dpids["b"], dpids["a"])}
    false_links = lambda: [it for it in api(lab, "links") if (it["src"]["dpid"], it["dst"]["dpid"]) in ends]
    open_wormhole(lab, folder)
    wait_until("the false link is believed", false_links)
    believed = time.time()
    alarm = lambda: [it["text"] for it in api(lab, "alarms") if it["kind"] == "lossy_link"]
    wait_until("an alarm names the false link", alarm, FOUND_WITHIN)
    found = time.time()
    time.sleep(HELD)
    is_used = any(not it.get("degraded") for it in false_links()[:1])
    lab.stop(probe)
    lost = [sent for sent, answered in json.loads(record.read_text()) if answered is None]
    late = sum(at > found + 1 for at in lost)
    result = {"schema": "braid/v1", "found_s": round(found - believed, 1), "alarm": alarm()[0], "lost": len(lost)}
    return result | {"lost_later": late, "is_used_again": is_used, "ok": late <= STRAY and not is_used}


def table(result):
    yield f"found after {result['found_s']} s: {result['alarm']}"
    yield f"{result['lost']} datagrams lost, {result['lost_later']} of them more than 1 s after that"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--log", default="/dev/null", help="what the controller says")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Lab(arguments.braid, "wormhole-check") as lab:
        with open(arguments.log, "w") as log:
            result = measure(lab, log, folder)
    print(json.dumps(result) if arguments.json else "\n".join(table(result)))
    sys.exit(0 if result["ok"] else 5)


if __name__ == "__main__":
    main()
