#!/usr/bin/python3
"""The failures of docs/reliability.md, "Changes of leaders": three controllers, three etcds, 20 bridges of Open vSwitch.

    full.py [--braid PROGRAM] [--old PROGRAM] [--trials COUNT] [--rate PER_SECOND] [--outage SECONDS] [--soak SECONDS] [--only PART,...]
            [--cuts CUT,...] [--log FILE]

Parts are trials (hand-overs, kill -9, SIGSTOP, and as many times nothing), partitions, stores (etcd stopped, compacted, restored from
older data, wiped), soak (members are killed every 5 s), and with `--only upgrade --old PROGRAM` an upgrade: members begin with
that program, and are replaced one after the other. Meanwhile 80 streams run, a probe of 500 datagrams a second, and MPTCP
connections are opened at a rate.
Needs root, Open vSwitch, etcd and nft; takes half an hour. Prints one line of JSON; exit code 5 if a connection failed, a probe was
lost, a rule was written again, two members led in one term, no member said that etcd was away, or no connection opened for a second
after the leader was cut off from the switches.
"""

import argparse
import json
import math
import os
import random
import signal
import statistics
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from fleet import MEMBERS, STORES, SWITCHES_AT, Member, Stores, make_bridge  # noqa: E402
from testbed import LINKS, Lab, start_traffic, wait_until  # noqa: E402

UPGRADE = "upgrade"
PARTS = ["trials", "partitions", "stores", "soak"]
CUTS = ["leader-etcd", "leader-switches", "leader-standby", "leader-standbys", "standby-etcd", "standby-switches", "standby-standby"]
# Longer than any retransmission of a SYN that is lost once.
SETTLED = 3
# A member that was asked to lead does not step aside for as long.
CALM = 10
# Within this time connections open again after the leader alone was cut off from the switches.
STEP_ASIDE_LIMIT = 1


class Openings:
    """Connections that hosts open all the time: when each began, and the seconds that it took."""

    def __init__(self, lab, rate):
        self.seen = []
        process = lab.inside("gamma", "python3", str(HERE / "openings.py"), "10.0.0.4", str(rate), "0")
        threading.Thread(target=self.read, args=[process], daemon=True).start()

    def read(self, process):
        for line in process.stdout:
            began, took, error = json.loads(line)
            self.seen.append((began, took))
            if error:
                print(f"a connection failed: {error}", file=sys.stderr)

    def first_after(self, since):
        """Seconds from then until the first connection was open that began later."""
        ends = [began + took for began, took in list(self.seen) if took is not None and began >= since]
        return min(ends) - since if ends else None

    def failed(self):
        return [began for began, took in list(self.seen) if took is None]


class Field:
    """The cluster in the lab, and what is counted all the time."""

    def __init__(self, lab, log, arguments):
        self.lab = lab
        switches = [switch["name"] for switch in lab.deploy()["switches"]]
        self.switches = switches
        make_bridge(lab)
        self.stores = Stores(lab, log)
        self.stores.start()
        time.sleep(2)
        self.members = {name: Member(lab, name, len(switches), log, arguments.old) for name in MEMBERS}
        for member in self.members.values():
            member.start()
        self.connect()
        wait_until("one member leads all switches and knows all links", self.is_whole)
        time.sleep(SETTLED)
        self.streams, self.probe = start_traffic(lab, 500)
        self.openings = Openings(lab, arguments.rate)
        self.rewritten, self.leaders, self.done = 0, {}, []
        time.sleep(SETTLED)

    def connect(self):
        targets = [f"tcp:{address}:6653" for address in MEMBERS.values()]
        for switch in self.switches:
            self.lab.ovs("ovs-vsctl", "set-controller", switch, *targets)
        rows = self.lab.ovs("ovs-vsctl", "--columns=_uuid", "--bare", "list", "controller").split()
        words = [["--", "set", "controller", row, "max_backoff=1000", "connection_mode=out-of-band"] for row in rows]
        self.lab.ovs("ovs-vsctl", *sum(words, [])[1:])

    def leader(self):
        masters = [member for member in self.members.values() if member.process.poll() is None and member.is_master()]
        return masters[0] if len(masters) == 1 else None

    def is_whole(self):
        leader = self.leader()
        return leader is not None and len(leader.ask("links")["links"]) == LINKS

    def settle(self):
        """The leader, once one has every switch and knows every link, for a while."""
        leader = None
        while leader is None or leader is not self.leader():
            wait_until("one member leads all switches and knows all links", self.is_whole)
            leader = self.leader()
            time.sleep(SETTLED)
        self.note_terms()
        return leader

    def note_terms(self):
        """Who said to lead in which term."""
        for member in self.members.values():
            status = member.ask("cluster", "status") if member.process.poll() is None else {}
            if status.get("leader") == member.name:
                self.leaders.setdefault(status["newest_term"], set()).add(member.name)

    def store_alarms(self):
        """How often members have said that etcd does not answer."""
        alarms = [alarm for member in self.members.values() for alarm in member.ask("alarms")["alarms"]]
        return sum(alarm["count"] for alarm in alarms if alarm["kind"] == "store_unreachable")

    def rules(self):
        return {switch: self.lab.flows(switch) for switch in self.switches}

    def count_rewritten(self, what, before):
        """Rules that are there again, written later; those of connections that came and went since are others."""
        for switch, rules in self.rules().items():
            again = [rule for rule, at in rules.items() if rule in before[switch] and at > before[switch][rule] + 1]
            self.rewritten += len(again)
            for rule in again:
                print(f"{what}: written again: {switch} {rule}", file=sys.stderr)

    def pause(self, since, patience=30):
        """Seconds from then until a connection that began later is open; infinite if none is for a while."""
        while self.openings.first_after(since) is None and time.time() < since + patience:
            time.sleep(0.1)
        return self.openings.first_after(since) or math.inf

    def longest_pause(self, since, seconds):
        """The longest time without a connection that became open, of these seconds."""
        time.sleep(max(0, since + seconds - time.time()))
        ends = sorted(began + took for began, took in list(self.openings.seen) if took is not None and began + took > since)
        return max((later - earlier for earlier, later in zip([since, *ends], ends)), default=seconds)

    def disturb(self, what, action, from_end=False):
        """Does something, and how long connections wait that begin later: than its begin, or than its end."""
        begin = time.time()
        self.done.append((begin, what))
        action()
        took = self.pause(time.time() if from_end else begin)
        print(f"{what}: a connection opened after {milliseconds(took)} ms", file=sys.stderr)
        return took

    def tell_losses(self, gaps):
        """When probes were lost, after which disturbance, and whether the machine stood still before."""
        for gap in gaps:
            first = gap["first"]
            began, what = max(((at, what) for at, what in self.done if at <= first), default=(first, "the start"))
            clock = time.strftime("%H:%M:%S", time.gmtime(first))
            print(
                f"{gap['count']} probes lost from {clock} for {gap['last'] - first:.2f} s, sent up to {gap['late']:.2f} s late, "
                f"{first - began:.1f} s after {what}",
                file=sys.stderr,
            )


def trials(field, arguments):
    """Times until a connection that began later is open, by what was done to the leader; of hand-overs the longest pause, and
    the same where nothing is done: what this machine makes of it."""
    times = {"nothing": [], "hand-over": [], "kill -9": [], "SIGSTOP": []}
    for number in range(arguments.trials):
        for what in times:
            before = field.rules() if number % 5 == 0 else None
            leader, since = field.settle(), time.time()
            took = field.disturb(what, lambda: ATTACKS[what](leader))
            # On purpose, what counts is for how long nothing opens; the command itself takes time before that.
            times[what].append(field.longest_pause(since, 3) if what in ("nothing", "hand-over") else took)
            if what == "kill -9":
                leader.start()
            elif what == "SIGSTOP":
                time.sleep(max(0, since + 10 - time.time()))
                os.kill(leader.process.pid, signal.SIGCONT)
            field.settle()
            if before:
                field.count_rewritten(what, before)
    return {what: quantiles(seconds) for what, seconds in times.items()}


ATTACKS = {
    "nothing": lambda leader: None,
    "hand-over": lambda leader: leader.ask("cluster", "hand-over"),
    "kill -9": Member.kill,
    "SIGSTOP": lambda leader: os.kill(leader.process.pid, signal.SIGSTOP),
}


def milliseconds(seconds):
    """None for what did not happen."""
    return round(seconds * 1000) if math.isfinite(seconds) else None


def within(millis, limit):
    """Whether something happened, and in time."""
    return millis is not None and millis <= limit * 1000


def quantiles(seconds):
    """Without a 99th percentile: trials are fewer than a hundred."""
    ordered = sorted(seconds)
    return {"n": len(ordered), "p50_ms": milliseconds(statistics.median(ordered)), "max_ms": milliseconds(ordered[-1])}


def partitions(field, arguments):
    """How long connections wait when something is cut, both ways and each way alone, and who leads meanwhile."""
    told = []
    for what in arguments.cuts:
        for directions in (["in", "out"], ["in"], ["out"]):
            leader = field.settle()
            if what == "leader-switches":
                time.sleep(CALM)
            others = [member for member in field.members.values() if member is not leader]
            of, addresses = ends(what, leader, others)
            before = field.rules()
            took = field.disturb(f"{what} {'+'.join(directions)}", lambda: of.cut(addresses, directions), from_end=True)
            longest = field.longest_pause(time.time(), 10)
            of.heal()
            field.settle()
            field.count_rewritten(what, before)
            told.append({"cut": what, "directions": directions, "first_ms": milliseconds(took), "longest_ms": milliseconds(longest)})
    return told


def ends(what, leader, others):
    of = leader if what.startswith("leader") else others[0]
    addresses = {
        "etcd": STORES,
        "switches": [SWITCHES_AT],
        "standby": [others[1].address],
        "standbys": [it.address for it in others],
    }
    return of, addresses[what.split("-")[1]]


def stores(field, arguments):
    """What happens to connections while etcd is away, compacted, old, or empty."""
    told = {}
    field.settle()
    field.stores.keep()
    for what, action in {
        "stopped": lambda: (field.stores.stop(), time.sleep(arguments.outage), field.stores.start()),
        "compacted": field.stores.compact,
        "restored": field.stores.restore,
        "wiped": field.stores.wipe,
    }.items():
        field.settle()
        before, alarms, since = field.rules(), field.store_alarms(), time.time()
        action()
        time.sleep(8)
        field.settle()
        field.count_rewritten(what, before)
        lost = [began for began in field.openings.failed() if began > since]
        told[what] = {"connections_failed": len(lost), "alarm": field.store_alarms() > alarms}
    return told


def upgrade(field, arguments):
    """Each member is stopped and started with the new program: the standbys, and once one of them leads, the last one."""
    del arguments
    told, before = [], field.rules()
    first = field.settle()
    for member in sorted(field.members.values(), key=lambda member: member is first):
        if member is first:
            field.disturb("hand-over to a new member", lambda: first.ask("cluster", "hand-over"))
            field.settle()
        took = field.disturb(f"upgrade of {member.name}", lambda: replace(member, field.lab.braid))
        told.append({"member": member.name, "led": member is first, "first_ms": milliseconds(took)})
        field.settle()
        time.sleep(CALM)
    field.count_rewritten("upgrade", before)
    return told


def replace(member, program):
    member.stop()
    member.program = program
    member.start()


def soak(field, arguments):
    """Members are killed every five seconds, drawn at random."""
    field.settle()
    draw, end, kills, before = random.Random(1), time.time() + arguments.soak, 0, field.rules()
    while time.time() < end:
        victim = draw.choice(list(field.members.values()))
        field.done.append((time.time(), f"kill -9 of {victim.name}"))
        victim.kill()
        kills += 1
        time.sleep(1)
        victim.start()
        time.sleep(4)
        field.note_terms()
    field.settle()
    field.count_rewritten("soak", before)
    return {"seconds": arguments.soak, "killed": kills}


def run(lab, log, arguments):
    field = Field(lab, log, arguments)
    parts = {UPGRADE: upgrade, "trials": trials, "partitions": partitions, "stores": stores, "soak": soak}
    result = {part: parts[part](field, arguments) for part in parts if part in arguments.only}
    time.sleep(SETTLED)
    probe = json.loads(lab.stop(field.probe).splitlines()[-1])
    field.tell_losses(probe["gaps"])
    ended = [json.loads(lab.stop(process).splitlines()[-1]) for process in field.streams]
    slow = [it for it in result.get("partitions", []) if it["cut"] == "leader-switches" and not within(it["first_ms"], STEP_ASIDE_LIMIT)]
    is_silent = "stores" in result and not result["stores"]["stopped"]["alarm"]
    two_leaders = {term: sorted(names) for term, names in field.leaders.items() if len(names) > 1}
    took = sorted(took for _, took in field.openings.seen if took is not None)
    result |= {
        "schema": "braid/v1",
        "openings": {"opened": len(took), "failed": len(field.openings.failed()), "p50_ms": round(statistics.median(took) * 1000, 1)},
        "probes": {key: probe[key] for key in ("sent", "lost", "twice")},
        "streams_broken": [failure for end in ended for failure in end["failed"]],
        "rules_rewritten": field.rewritten,
        "terms_with_two_leaders": two_leaders,
    }
    print(json.dumps(result))
    bad = result["openings"]["failed"] or result["streams_broken"] or field.rewritten or two_leaders or slow or is_silent or probe["lost"]
    return 5 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--old", help="the program of another version, with which members begin")
    parser.add_argument("--log", default="/dev/null", help="what the controllers and etcd say")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--rate", type=float, default=100, help="connections opened a second")
    parser.add_argument("--outage", type=float, default=60, help="seconds for which etcd is stopped")
    parser.add_argument("--soak", type=float, default=600, help="seconds of members that are killed")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS, metavar="PART,...")
    parser.add_argument("--cuts", type=lambda text: text.split(","), default=CUTS, metavar="CUT,...", help="those of the partitions")
    arguments = parser.parse_args()
    for what, chosen, known in [("parts", arguments.only, [UPGRADE, *PARTS]), ("cuts", arguments.cuts, CUTS)]:
        if unknown := set(chosen) - set(known):
            parser.error(f"there are no {what} {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    if (UPGRADE in arguments.only) != (arguments.old is not None):
        parser.error("--only upgrade and --old PROGRAM need each other")
    with Lab(arguments.braid, f"cluster-{os.getpid()}") as lab, open(arguments.log, "w") as log:
        sys.exit(run(lab, log, arguments))


if __name__ == "__main__":
    main()
