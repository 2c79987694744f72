#!/usr/bin/python3
"""Two controllers on the same switches: the newest one is master everywhere, the other stands down and says so.

    roles.py [--braid PROGRAM] [--log FILE]

Needs root and Open vSwitch. Prints one line of JSON; exit code 5 if something was not as it should be.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from testbed import Lab, wait_until  # noqa: E402

SWITCHES = ["s1", "s2"]


class RolesLab(Lab):
    def deploy(self):
        scenario = str(HERE / "roles.yaml")
        return json.loads(self.run("lab", "deploy", scenario, "--name", self.name, "--no-controller", "--json"))


class Controller:
    """One of several controllers beside the switches."""

    def __init__(self, lab, name, number, log):
        self.lab = lab
        self.name = name
        self.openflow = f"127.0.0.1:{6653 + 10 * number}"
        self.http = f"127.0.0.1:{8653 + 10 * number}"
        self.process = subprocess.Popen(
            [lab.braid, "lab", "exec", lab.name, "--", lab.braid, "controller", "run"]
            + ["--openflow", self.openflow, "--http", self.http],
            stdout=subprocess.PIPE, stderr=log, text=True,
        )
        lab.running.append(self.process)
        self.process.stdout.readline()

    def command(self, *words):
        return self.lab.ovs(self.lab.braid, *words, "--controller", f"http://{self.http}")

    def api(self, resource):
        return json.loads(self.command(resource, "--json"))[resource]

    def roles(self):
        return [switch["role"] for switch in self.api("switches")]

    def lost(self):
        return sum(alarm["count"] for alarm in self.api("alarms") if alarm["kind"] == "role_lost")

    def has(self, role):
        return self.roles() == [role] * len(SWITCHES)


class Check:
    def __init__(self, lab):
        self.lab = lab
        self.failed = []

    def expect(self, what, is_so):
        print(("ok    " if is_so else "FAILED"), what, file=sys.stderr)
        if not is_so:
            self.failed.append(what)

    def ping(self, what):
        command = [self.lab.braid, "lab", "exec", self.lab.name, "alpha", "--"]
        ran = subprocess.run([*command, "ping", "-c", "5", "-i", "0.3", "10.0.0.2"], capture_output=True)
        self.expect(what, ran.returncode == 0)

    def connect(self, controllers):
        targets = [f"tcp:{controller.openflow}" for controller in controllers]
        for switch in SWITCHES:
            self.lab.ovs("ovs-vsctl", "set-controller", switch, *targets)
        ids = self.lab.ovs("ovs-vsctl", "--columns=_uuid", "--bare", "list", "controller").split()
        for row in ids:
            self.lab.ovs(
                "ovs-vsctl", "set", "controller", row, "max_backoff=1000", "connection_mode=out-of-band"
            )

    def switch_roles(self):
        """What the switches themselves say: the roles of their controllers, by target."""
        text = self.lab.ovs("ovs-vsctl", "--format=csv", "--no-headings", "--columns=target,role", "list", "controller")
        return sorted(re.sub('"', "", line) for line in text.split())


def run(lab, log):
    check = Check(lab)
    lab.deploy()
    old = Controller(lab, "old", 0, log)
    check.connect([old])
    wait_until("the first controller is master", lambda: old.has("master") and len(old.api("links")) == 2)
    time.sleep(3)
    check.ping("the first controller carries ping")

    new = Controller(lab, "new", 1, log)
    check.connect([old, new])
    wait_until("the second controller is master", lambda: new.has("master") and len(new.api("links")) == 2)
    wait_until("the first controller stands down", lambda: old.has("slave"))
    check.expect("the first controller raises alarms", old.lost() == len(SWITCHES))
    check.expect("and none is raised by the second one", new.lost() == 0)
    roles = [f"tcp:{old.openflow},slave", f"tcp:{new.openflow},master"]
    # Open vSwitch writes them into its database every 5 s.
    wait_until("the switches say the same", lambda: check.switch_roles() == sorted(roles * len(SWITCHES)))
    check.expect("braid switches shows it", old.command("switches").count("slave") == len(SWITCHES))
    time.sleep(3)
    check.ping("the second controller carries ping")

    check.connect([new])
    wait_until("the first controller has no switch", lambda: old.roles() == [])
    check.connect([new, old])
    wait_until("the first controller is connected again", lambda: len(old.roles()) == len(SWITCHES))
    time.sleep(3)
    check.expect("a stale controller that connects last stays down", old.has("slave"))
    check.expect("and takes nothing from the newer one", new.has("master") and new.lost() == 0)

    os.kill(new.process.pid, signal.SIGSTOP)
    before = {switch: lab.flows(switch) for switch in SWITCHES}
    old.command("switches", "take-over")
    wait_until("the first controller takes over on purpose", lambda: old.has("master"))
    wait_until("and knows the links", lambda: len(old.api("links")) == 2)
    time.sleep(5)
    rewritten = sum(
        written > before[switch].get(rule, 0) + 1 for switch in SWITCHES for rule, written in lab.flows(switch).items()
    )
    os.kill(new.process.pid, signal.SIGCONT)
    wait_until("the second controller stands down when it wakes", lambda: new.has("slave"))
    check.expect("it raises alarms", new.lost() == len(SWITCHES))
    time.sleep(3)
    check.expect("what it had to say took nothing back", old.has("master"))
    check.ping("the first controller carries ping again")
    check.expect("a take-over rewrites no rule", rewritten == 0)
    print(json.dumps({"schema": "braid/v1", "rules_rewritten": rewritten, "failed": check.failed}))
    return 5 if check.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--log", default="/dev/null", help="what the controllers say")
    arguments = parser.parse_args()
    with RolesLab(arguments.braid, "roles-check") as lab, open(arguments.log, "w") as log:
        sys.exit(run(lab, log))


if __name__ == "__main__":
    main()
