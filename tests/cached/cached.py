#!/usr/bin/python3
"""What Open vSwitch caches for handshakes of Linux's own ports covers none of advised subflows, and all else is cached by few bits.

    cached.py [--braid PROGRAM]

It goes on by what it has cached for a while after newer rules, so a subflow whose rules are in place would wait for the
controller. Needs root and Open vSwitch. Exit code 5 if what it caches covers too much or tells too much apart.
"""

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from testbed import Lab, wait_until  # noqa: E402

SCENARIO = HERE.parent / "roles" / "roles.yaml"
ADVISED = range(0xF000, 65_001)
# The first and the last that Linux gives by itself, and some between and below.
OTHERS = [1, 1_024, 20_000, 32_768, 40_000, 50_000, 60_000, 60_999]
ENDS = {
    "tcp": "nw_src=10.0.0.1,nw_dst=10.0.0.2",
    "tcp6": "ipv6_src=fd00::1,ipv6_dst=fd00::2",
}


class CachedLab(Lab):
    def deploy(self):
        self.run("lab", "deploy", str(SCENARIO), "--name", self.name)
        # Until then nothing passes the port.
        dump = ["ovs-ofctl", "-O", "OpenFlow13", "dump-flows", "s1"]
        wait_until("the first port is a host's", lambda: "in_port=1 actions=goto_table:1" in self.ovs(*dump))

    def cached(self, protocol, ports, flags):
        """The match that the first switch would cache for a packet between these ports, and whether the controller gets it."""
        packet = f"in_port=1,{protocol},{ENDS[protocol]},tp_src={ports[0]},tp_dst={ports[1]},tcp_flags={flags}"
        text = self.ovs("ovs-appctl", "ofproto/trace", "s1", packet)
        return re.search(r"^Megaflow: (.*)$", text, re.MULTILINE)[1], "CONTROLLER" in text


def covered(match, end):
    """The ports of advised subflows that a cached match covers, at this end."""
    found = re.search(rf"tp_{end}=(\w+)(?:/(\w+))?", match)
    if not found:
        return list(ADVISED)
    value, mask = int(found[1], 0), int(found[2] or "0xffff", 0)
    return [port for port in ADVISED if port & mask == value & mask]


def judge_syn(lab, protocol, port):
    return judge_handshake(*lab.cached(protocol, (port, 5201), "syn"), "src")


def judge_answer(lab, protocol, port):
    return judge_handshake(*lab.cached(protocol, (5201, port), "syn|ack"), "dst")


def judge_handshake(match, is_punted, end):
    if not is_punted:
        return match, "does not go to the controller"
    ports = covered(match, end)
    return match, f"covers {len(ports)} ports of advised subflows" if ports else ""


def judge_data(lab, protocol, port):
    match, _ = lab.cached(protocol, (port, 5201), "ack")
    return match, "tells ports apart" if re.search(r"tp_(src|dst)=", match) else ""


def run(lab):
    lab.deploy()
    failed = 0
    for judge in (judge_syn, judge_answer, judge_data):
        for protocol in ENDS:
            for port in OTHERS:
                match, why = judge(lab, protocol, port)
                failed += bool(why)
                print(f"{f'FAILED: {why}' if why else 'ok':6} {judge.__name__[6:]}, {protocol} from {port}: {match}")
    return 5 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    with CachedLab(parser.parse_args().braid, "cached-check") as lab:
        sys.exit(run(lab))


if __name__ == "__main__":
    main()
