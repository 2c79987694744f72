#!/usr/bin/python3
"""Three controllers of a cluster over a real etcd with TLS and passwords: leaders are killed, stopped and cut off from the switches,
one switch is cut off from the leader, standbys begin with what they knew, etcd is stopped and wiped, others intrude.

    cluster.py [--braid PROGRAM] [--log FILE] [--trials COUNT]

Needs root, Open vSwitch, etcd, nft and openssl. Prints one line of JSON with the times in which another member was master of every
switch; exit code 5 if something was not as it should be.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from store import Etcd  # noqa: E402
from testbed import Lab, wait_until  # noqa: E402

SWITCHES = ["s1", "s2"]
MEMBERS = ["a", "b", "c"]
# Ports from which announced connections come.
ANNOUNCED = [7_001, 7_002]


class ClusterLab(Lab):
    def deploy(self):
        scenario = str(HERE / "cluster.yaml")
        return json.loads(self.run("lab", "deploy", scenario, "--name", self.name, "--no-controller", "--json"))


class Member:
    """A controller of the cluster, or, with another cluster's name, an intruder beside it."""

    def __init__(self, lab, name, etcd, cluster="default"):
        self.lab = lab
        self.etcd = etcd
        self.name = name
        self.log = etcd.log
        self.cluster = cluster
        number = [*MEMBERS, "intruder"].index(name)
        self.openflow = f"127.0.0.1:{6653 + 10 * number}"
        self.port = 8653 + 10 * number
        self.process = None

    def command(self, openflow, port):
        return (
            [self.lab.braid, "lab", "exec", self.lab.name, "--", self.lab.braid, "controller", "run"]
            + ["--openflow", openflow, "--http", f"127.0.0.1:{port}"]
            + ["--cluster-member", self.name, "--cluster-name", self.cluster]
            + [*self.etcd.options(), *self.etcd.member_options(self.name)]
        )

    def start(self):
        command = self.command(self.openflow, self.port)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.lab.running.append(self.process)
        assert self.process.stdout.readline(), f"member {self.name} does not start"

    def ask(self, *words):
        url = f"http://127.0.0.1:{self.port}"
        return json.loads(self.lab.ovs(self.lab.braid, *words, "--json", "--controller", url))

    def api(self, method, path, body=None):
        """What its API answers, with status and headers."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}"
        return json.loads(self.lab.ovs("python3", str(HERE / "ask.py"), method, url, *([json.dumps(body)] if body else [])))

    def assign(self):
        return self.api("POST", "assignments", {"src": "10.0.0.1", "dst": "10.0.0.2", "paths": 1, "owner": "check"})

    def announce(self, assignment, port):
        """Announces a connection from this port for an assignment."""
        ends = {"src": "10.0.0.1", "src_port": port, "dst": "10.0.0.2", "dst_port": 5_555}
        return self.api("POST", f"assignments/{assignment}/streams", {**ends, "owner": "check"})

    def assignments(self):
        return [assignment["id"] for assignment in self.ask("assignments")["assignments"]]

    def load(self, policy):
        """Whether a policy could be loaded."""
        command = [self.lab.braid, "lab", "exec", self.lab.name, "--", self.lab.braid, "policy", "load", str(policy)]
        command += ["--controller", f"http://127.0.0.1:{self.port}"]
        return subprocess.run(command, capture_output=True).returncode == 0

    def rules(self):
        return [rule["name"] for rule in self.ask("policy", "show")["policy"]["rules"]]

    def roles(self):
        return [switch["role"] for switch in self.ask("switches")["switches"]]

    def hand_over(self):
        return self.ask("cluster", "hand-over")["to"]

    def alarms(self):
        return {alarm["kind"] for alarm in self.ask("alarms")["alarms"]}

    def transfers(self, kind="mptcp"):
        """Its transfers of a kind, by the ports of their streams."""
        transfers = self.ask("transfers")["transfers"]
        return sorted([stream["src_port"] for stream in it["streams"]] for it in transfers if it["kind"] == kind)

    def followers(self):
        """The standbys that have what it knows."""
        members = self.ask("cluster", "status")["members"]
        return [it["name"] for it in members if (it["following"] or {}).get("lag_us") is not None]

    def reached(self):
        """The switches that each member reaches."""
        return {it["name"]: it["switches_reached"] for it in self.ask("cluster", "status")["members"]}

    def ways(self):
        """The address of each switch that it is master of, and the member through which it reaches it."""
        switches = self.ask("switches")["switches"]
        return {it["dpid"]: (it["address"], it["via"]) for it in switches if it["role"] == "master"}

    def relayed(self):
        """How many switches it serves through others."""
        return sum(it["switches_relayed"] or 0 for it in self.ask("cluster", "status")["members"])

    def term(self):
        return self.ask("cluster", "status")["newest_term"]

    def twin_error(self):
        """What another process with this name says when it is refused."""
        twin = subprocess.run(self.command("127.0.0.1:0", 0), capture_output=True, text=True, timeout=20)
        return twin.stderr if twin.returncode else ""


class Watch:
    """Who is master of all switches, and since when."""

    def __init__(self, lab, members):
        ports = [str(member.port) for member in members]
        self.names = {member.port: member.name for member in members}
        self.process = lab.inside(None, "python3", str(HERE / "watch.py"), str(len(SWITCHES)), *ports)
        self.seen = [(0, None)]
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            told = json.loads(line)
            self.seen.append((told["time"], self.names.get(told["master"])))

    def master(self):
        return self.seen[-1][1]

    def another(self, than, since):
        """When another member became master, after that."""
        return next((at for at, name in self.seen if at > since and name not in (None, than)), None)


class Probe:
    """Fifty pings a second; which of them have no answer."""

    PAUSE = 0.02

    def __init__(self, lab):
        self.process = lab.inside("alpha", "ping", "-D", "-i", str(self.PAUSE), "10.0.0.2")
        self.answers = {}
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if answer := re.match(r"\[([\d.]+)\].* icmp_seq=(\d+) ", line):
                self.answers[int(answer[2])] = float(answer[1])

    def end(self):
        """How many were sent, and about when those without an answer were."""
        self.process.send_signal(signal.SIGINT)
        self.thread.join(20)
        last = max(self.answers)
        lost = [number for number in range(1, last) if number not in self.answers]
        return last, [self.answers[last] - (last - number) * self.PAUSE for number in lost]


class Check:
    def __init__(self, lab, watch, members):
        self.lab = lab
        self.watch = watch
        self.members = members
        self.failed = []
        self.times = {}
        self.events = []
        self.rewritten = 0
        self.promised = []

    def do(self, what, action):
        """Does something; which rules are written again because of it is counted later."""
        self.events.append((time.time(), what))
        return action()

    def rules(self):
        return {switch: self.lab.flows(switch) for switch in SWITCHES}

    def count_rewritten(self, before):
        """Rules that are there again, written later."""
        for switch, rules in self.rules().items():
            again = [rule for rule, at in rules.items() if rule in before[switch] and at > before[switch][rule] + 1]
            self.rewritten += len(again)
            for rule in again:
                print("written again:", switch, rule, file=sys.stderr)

    def expect(self, what, is_so):
        print(("ok    " if is_so else "FAILED"), what, file=sys.stderr)
        if not is_so:
            self.failed.append(what)

    def settle(self):
        wait_until("one member is master", lambda: self.watch.master() is not None)
        time.sleep(3)
        wait_until("one member is master after a while", lambda: self.watch.master() is not None)
        return self.members[self.watch.master()]

    def replace(self, what, action, restore):
        """Another member becomes master after the action, and stays it."""
        leader = self.settle()
        before = self.rules()
        since = time.time()
        self.do(what, lambda: action(leader))
        wait_until(f"{what}: another master", lambda: self.watch.another(leader.name, since))
        self.times.setdefault(what, []).append(self.watch.another(leader.name, since) - since)
        new = self.watch.master()
        time.sleep(2)
        self.do(f"the end of {what}", lambda: restore(leader))
        time.sleep(3)
        self.count_rewritten(before)
        self.expect(f"{what}: the new leader stays", self.watch.master() == new)
        self.expect(f"{what}: the old one is slave", set(leader.roles()) <= {"slave"})
        if what == "SIGSTOP":
            self.expect(f"{what}: the old one raises an alarm", "leadership_lost" in leader.alarms())

    def step_aside(self):
        """A leader that is cut off from the switches alone lets another member lead."""
        # For so long a member that was asked to lead stays.
        time.sleep(10)
        leader = self.settle()
        self.expect("every member says what it reaches", wait_until_equal(leader.reached, dict.fromkeys(MEMBERS, len(SWITCHES))))
        self.replace("cut off from the switches", self.cut, lambda _: self.heal())
        self.expect("the one that is cut off raises an alarm", "switches_unreachable" in leader.alarms())

    def front(self):
        """A switch whose connection with the leader is cut is served through a standby, until it connects anew."""
        leader = self.settle()
        before = self.rules()
        dpid, (address, via) = max(leader.ways().items())
        self.expect("switches connect to the leader themselves", via is None)
        since = time.time()
        self.do("one switch is cut off from the leader", lambda: self.cut_port(address.rsplit(":", 1)[1]))
        via_member = lambda: leader.ways().get(dpid, (None, None))[1]
        while via_member() is None and time.time() < since + 20:
            time.sleep(0.05)
        self.times.setdefault("served through a standby", []).append(time.time() - since)
        says_so = lambda: via_member() is not None and self.members[via_member()].relayed() == 1
        self.expect("the switch is served through a standby that says so", wait_until_equal(says_so, True))
        transfers = leader.transfers()
        client = self.lab.inside("alpha", "python3", str(HERE / "mptcp.py"), "hold", "10.0.0.2", "1")
        self.expect("hosts behind it open a connection", client.stdout.readline() == "open\n")
        opened = lambda: any(it not in transfers for it in leader.transfers())
        self.expect("the leader has placed it", wait_until_equal(opened, True))
        client.kill()
        # Open vSwitch gives the connection up that was cut.
        wait_until("the switch connects anew", lambda: dpid in leader.ways() and via_member() is None, 40)
        self.heal()
        self.expect("nobody passes it on any more", wait_until_equal(leader.relayed, 0))
        self.expect("the leader stays", self.settle() is leader)
        self.count_rewritten(before)

    def cut(self, member):
        """Drops what passes between a member and the switches, both ways."""
        self.cut_port(member.openflow.rsplit(":", 1)[1])

    def cut_port(self, port):
        rules = "; ".join(f"add rule inet cut in tcp {end} {port} drop" for end in ("sport", "dport"))
        self.lab.ovs("nft", f"add table inet cut; add chain inet cut in {{ type filter hook input priority 0; }}; {rules}")

    def heal(self):
        self.lab.ovs("nft", "delete table inet cut")

    def agree(self):
        """Every member names the same leader and knows all members."""
        leader = self.settle()
        seen = [member.ask("cluster", "status") for member in self.members.values()]
        self.expect("all members name the leader", {it["leader"] for it in seen} == {leader.name})
        names = [[member["name"] for member in it["members"]] for it in seen]
        self.expect("all members know each other", all(it == MEMBERS for it in names))
        self.expect("etcd answers all members", all(it["store_answers"] for it in seen))

    def share(self, folder):
        """A policy that is loaded at a standby holds everywhere."""
        leader = self.settle()
        standby = next(member for member in self.members.values() if member is not leader)
        self.expect("a standby takes a policy", standby.load(policy_file(folder, "shared")))
        everywhere = lambda: all(member.rules() == ["shared"] for member in self.members.values())
        wait_until("every member has the policy", everywhere)

    def keeps_policy(self, folder):
        """Without etcd no policy is taken."""
        leader = self.members[self.watch.master()]
        self.expect("without etcd no policy is loaded", not leader.load(policy_file(folder, "lost")))
        self.expect("without etcd the policy stays", leader.rules() == ["shared"])

    def promise(self):
        """A standby passes on what clients ask; the next leader has what was promised, and not what was released."""
        standby = self.standby()
        made = [self.insist(standby.assign) for _ in range(2)]
        self.expect("assignments are made at a standby", [it["status"] for it in made] == [201, 201])
        ids = [it["answer"]["assignment"]["id"] for it in made]
        release = lambda: standby.api("DELETE", f"assignments/{ids[1]}", {"owner": "check"})
        self.expect("an assignment is released", self.insist(release)["status"] == 200)
        self.promised = ids[:1]
        self.expect("a standby says how old its state is", "braid-state-age" in standby.api("GET", "switches")["headers"])
        leader = self.settle()
        kill(leader)
        self.keeps_promises("the leader was killed")
        leader.start()

    def recall(self):
        """The next leader knows from the start which hosts there are, and which subflows and announced connections belong together."""
        self.lab.inside("beta", "python3", str(HERE / "mptcp.py"), "serve", "10.0.0.2")
        time.sleep(1)
        client = self.lab.inside("alpha", "python3", str(HERE / "mptcp.py"), "hold", "10.0.0.2", "3")
        self.expect("MPTCP connections are open", client.stdout.readline() == "open\n")
        leader = self.settle()
        announced = [self.insist(lambda port=port: leader.announce(self.promised[0], port)) for port in ANNOUNCED]
        self.expect("connections are announced", [it["status"] for it in announced] == [201] * len(ANNOUNCED))
        standbys = sorted(set(MEMBERS) - {leader.name})
        wait_until("standbys have what the leader knows", lambda: leader.followers() == standbys)
        before = leader.transfers()
        self.expect("each connection is one transfer", len(before) == 3)
        standby = self.standby()
        self.do("the leader is killed", lambda: kill(leader))
        asked = [standby.assign()]
        while asked[-1]["status"] == 503 and len(asked) < 100:
            asked.append(standby.assign())
        self.expect("hosts are known at once", asked[-1]["status"] == 201)
        new = self.settle()
        self.expect("connections of the same hosts are not merged", new.transfers() == before)
        self.expect("announced connections are those of their assignment", new.transfers("parallel") == [ANNOUNCED])
        made = asked[-1]["answer"]["assignment"]["id"]
        release = lambda: standby.api("DELETE", f"assignments/{made}", {"owner": "check"})
        self.expect("the assignment is released", self.insist(release)["status"] == 200)
        leader.start()
        client.kill()

    def refuse_a_stranger(self):
        """Somebody without a certificate is no member, and the member says so."""
        leader = self.settle()
        status = leader.ask("cluster", "status")
        host, port = next(it["address"] for it in status["members"] if it["name"] == leader.name).rsplit(":", 1)
        self.lab.ovs("python3", "-c", STRANGER, host, port)
        wait_until("a stranger is an alarm", lambda: "foreign_member" in leader.alarms())

    def insist(self, ask):
        """Asks again as long as it may work later: leaders may change on a busy machine."""
        end = time.monotonic() + 20
        while (answer := ask())["status"] == 503 and time.monotonic() < end:
            time.sleep(0.5)
        return answer

    def keeps_promises(self, after):
        leader = self.settle()
        wait_until(f"{after}: the assignment is there", lambda: leader.assignments() == self.promised)

    def refuses_promises(self):
        """Without etcd nothing is promised, and what is there stays."""
        leader = self.members[self.watch.master()]
        refused = leader.assign()
        reason = refused["answer"].get("detail", "")
        self.expect("without etcd no assignment is made", refused["status"] == 503 and "store" in reason)
        self.expect("without etcd assignments stay", leader.assignments() == self.promised)

    def standby(self):
        leader = self.settle()
        return next(member for member in self.members.values() if member is not leader)

    def restart_without_etcd(self, standby):
        """A member that starts while etcd is stopped stands by, and is whole again later."""
        kill(standby)
        standby.start()
        time.sleep(3)
        self.expect("without etcd a member starts", standby.process.poll() is None)
        self.expect("without etcd it says so", "store_unreachable" in standby.alarms())
        self.expect("without etcd it does not lead", set(standby.roles()) <= {"slave"})

    def restart_after_a_wipe(self):
        """A member that starts right after etcd was wiped finds the others."""
        standby = self.standby()
        kill(standby)
        standby.start()
        time.sleep(4)
        self.agree()

    def refuse_a_twin(self):
        error = self.standby().twin_error()
        self.expect("a second process with a member's name is refused", "another process is member" in error)

    def intrude(self, intruder):
        """Another cluster on the same switches: whoever loses a switch says so, and nobody raises terms for ever."""
        leader = self.settle()
        intruder.start()
        time.sleep(5)
        terms = (leader.term(), intruder.term())
        time.sleep(5)
        self.expect("two clusters do not raise their terms in turns", (leader.term(), intruder.term()) == terms)
        loser = leader if intruder.roles() == ["master"] * len(SWITCHES) else intruder
        self.expect("the loser says so", "foreign_term" in loser.alarms())
        kill(intruder)
        if loser is leader:
            leader.ask("switches", "take-over")
        self.expect("the leader takes the switches back", self.settle() is leader)

    def stays(self, what, action):
        leader = self.settle()
        before = self.rules()
        self.do(what, action)
        self.expect(f"{what}: a member is master of all switches", self.settle() is not None)
        self.count_rewritten(before)
        return leader


# Greets as a member does, without TLS.
STRANGER = """
import socket, sys
stream = socket.create_connection(sys.argv[1:3])
stream.sendall(b'{"cluster":"default","member":"z","run":1,"version":1,"oldest":1}\\n')
stream.settimeout(5)
print(stream.recv(100))
"""


def policy_file(folder, rule):
    path = Path(folder) / f"{rule}.toml"
    path.write_text(f'[[rule]]\nname = "{rule}"\nports = [873]\nkind = "single"\n')
    return path


def connect(lab, controllers):
    targets = [f"tcp:{controller.openflow}" for controller in controllers]
    for switch in SWITCHES:
        lab.ovs("ovs-vsctl", "set-controller", switch, *targets)
    for row in lab.ovs("ovs-vsctl", "--columns=_uuid", "--bare", "list", "controller").split():
        lab.ovs("ovs-vsctl", "set", "controller", row, "max_backoff=1000", "connection_mode=out-of-band")


def wait_until_equal(ask, wanted, patience=5):
    """Whether an answer is this one within some seconds."""
    end = time.monotonic() + patience
    while ask() != wanted and time.monotonic() < end:
        time.sleep(0.1)
    return ask() == wanted


def kill(member):
    os.kill(member.process.pid, signal.SIGKILL)
    member.process.wait()


def run(lab, etcd, trials):
    lab.deploy()
    etcd.start()
    members = {name: Member(lab, name, etcd) for name in MEMBERS}
    time.sleep(2)
    etcd.enable_users()
    for member in members.values():
        member.start()
    intruder = Member(lab, "intruder", etcd, cluster="other")
    connect(lab, [*members.values(), intruder])
    check = Check(lab, Watch(lab, members.values()), members)
    check.settle()
    ping = lab.inside("alpha", "ping", "-c", "5", "-i", "0.3", "10.0.0.2")
    check.expect("ping passes", ping.wait() == 0)
    probe = Probe(lab)
    for _ in range(trials):
        check.replace("kill -9", kill, lambda leader: leader.start())
        check.replace(
            "SIGSTOP",
            lambda leader: os.kill(leader.process.pid, signal.SIGSTOP),
            lambda leader: os.kill(leader.process.pid, signal.SIGCONT),
        )
        check.replace("hand-over", Member.hand_over, lambda leader: None)
    check.step_aside()
    check.agree()
    check.share(etcd.folder)
    check.promise()
    check.recall()
    check.front()
    check.refuse_a_twin()
    check.refuse_a_stranger()
    standby = check.standby()
    leader = check.stays("etcd stopped", lambda: (etcd.stop(), time.sleep(10)))
    check.restart_without_etcd(standby)
    check.keeps_policy(etcd.folder)
    check.refuses_promises()
    check.expect("etcd stopped: the leader goes on", check.watch.master() == leader.name)
    leader = check.stays("etcd started again", lambda: (etcd.start(), time.sleep(5)))
    check.stays("etcd wiped", lambda: (etcd.stop(), etcd.wipe(), etcd.start(), time.sleep(5)))
    check.restart_after_a_wipe()
    kill(leader := check.settle())
    check.keeps_promises("etcd was wiped, and the leader killed")
    leader.start()
    kept = [member.rules() for member in members.values()]
    check.expect("the policy is there after all of that", all(rules == ["shared"] for rules in kept))
    sent, lost = probe.end()
    for at in lost:
        before = max((event for event in check.events if event[0] <= at), default=(at, "the start"))
        print(f"a probe was lost {at - before[0]:.2f} s after: {before[1]}", file=sys.stderr)
    check.expect("no rule was written again", check.rewritten == 0)
    forged = [name for name, member in members.items() if "forged_lldp" in member.alarms()]
    check.expect("the key of discovery frames stays", not forged)
    check.intrude(intruder)
    times = {what: [round(took * 1000) for took in took_all] for what, took_all in check.times.items()}
    print(json.dumps({"schema": "braid/v1", "milliseconds": times, "probes": {"sent": sent, "lost": len(lost)}, "rules_rewritten": check.rewritten, "failed": check.failed}))
    return 5 if check.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--log", default="/dev/null", help="what the controllers and etcd say")
    parser.add_argument("--trials", type=int, default=2)
    arguments = parser.parse_args()
    with ClusterLab(arguments.braid, "cluster-check") as lab, open(arguments.log, "w") as log:
        etcd = Etcd(lab, log, [*MEMBERS, "intruder"])
        try:
            sys.exit(run(lab, etcd, arguments.trials))
        finally:
            etcd.end()


if __name__ == "__main__":
    main()
