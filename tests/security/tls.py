#!/usr/bin/python3
"""Stock Open vSwitch joins over TLS with certificates of ovs-pki; whoever lacks the right one is refused, and told why.

    tls.py [--braid PROGRAM] [--log FILE]

Needs root, Open vSwitch and openssl. Prints one line of JSON; exit code 5 if something was not as it should be.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import openflow  # noqa: E402
from testbed import Lab, wait_until  # noqa: E402

PORT = 6653
SWITCHES = {"s1": "0000000000000001", "s2": "0000000000000002"}
HELLO, ECHO_REQUEST, ECHO_REPLY, FEATURES_REQUEST, FEATURES_REPLY = 0, 2, 3, 5, 6


class Pki:
    """Two authorities of ovs-pki, for controllers and for switches, and what they sign."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.call("init")
        self.switches = self.folder / "pki" / "switchca" / "cacert.pem"
        self.controllers = self.folder / "pki" / "controllerca" / "cacert.pem"

    def call(self, *words):
        options = [f"--dir={self.folder / 'pki'}", f"--log={self.folder / 'log'}"]
        subprocess.run(["ovs-pki", *options, *words], cwd=self.folder, check=True, capture_output=True)

    def issue(self, name, kind):
        self.call("-u", "req+sign", name, kind)
        return self.pair(name)

    def pair(self, name):
        return str(self.folder / f"{name}-cert.pem"), str(self.folder / f"{name}-privkey.pem")

    def issue_until(self, name, kind, start, end):
        """A certificate of the authority with these dates, in the form of ASN.1."""
        self.call("-u", "req", name)
        authority = self.folder / "pki" / f"{kind}ca"
        certificate, key = self.pair(name)
        subprocess.run(
            ["openssl", "ca", "-config", "ca.cnf", "-batch", "-notext", "-startdate", start, "-enddate", end]
            + ["-in", str(self.folder / f"{name}-req.pem"), "-out", certificate],
            cwd=authority, check=True, capture_output=True,
        )
        return certificate, key

    def issue_version_1(self, name):
        """A certificate without extensions, as old tools make it."""
        self.call("-u", "req", name)
        authority = self.folder / "pki" / "switchca"
        certificate, key = self.pair(name)
        subprocess.run(
            ["openssl", "x509", "-req", "-in", str(self.folder / f"{name}-req.pem"), "-CA", "cacert.pem"]
            + ["-CAkey", "private/cakey.pem", "-set_serial", "77", "-days", "10", "-out", certificate],
            cwd=authority, check=True, capture_output=True,
        )
        return certificate, key


class FakeSwitch:
    """A TLS client that claims a datapath id; runs beside the switches."""

    SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); import tls; getattr(tls, sys.argv[2])(*sys.argv[3:])"

    @classmethod
    def run(cls, lab, pki, what, pair, dpid):
        """`joined` if the controller goes on, `refused` if it closes. `what`: `claim` or `enter`."""
        command = ["python3", "-c", cls.SCRIPT, str(HERE), what, str(pki.controllers), *(pair or ("", "")), dpid]
        return lab.ovs(*command).strip()


def claim(authority, certificate, key, dpid):
    """Says HELLO and who it is; prints what comes of it."""
    context = context_of(authority, certificate, key)
    try:
        with context.wrap_socket(socket.create_connection(("127.0.0.1", PORT), 10)) as stream:
            print("joined" if converse(stream, int(dpid, 16)) else "refused")
    except (ssl.SSLError, ConnectionError):
        print("refused")


def enter(authority, certificate, key, dpid):
    """Joins as a switch with two ports; prints what comes of it."""
    context = context_of(authority, certificate, key)

    async def join():
        switch = await openflow.join(("127.0.0.1", PORT), int(dpid, 16), "127.0.0.1", context=context)
        await asyncio.sleep(1)
        return switch and not switch.closed.done()

    print("joined" if asyncio.run(join()) else "refused")


def context_of(authority, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(authority)
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def converse(stream, dpid):
    stream.sendall(struct.pack("!BBHI", 4, HELLO, 8, 1))
    unread = b""
    while chunk := stream.recv(65536):
        unread += chunk
        while len(unread) >= 8 and len(unread) >= (length := struct.unpack_from("!H", unread, 2)[0]):
            kind, unread = unread[1], unread[length:]
            if kind == FEATURES_REQUEST:
                body = struct.pack("!QIBBHII", dpid, 0, 254, 0, 0, 1, 0)
                stream.sendall(struct.pack("!BBHI", 4, FEATURES_REPLY, 8 + len(body), 2) + body)
                stream.sendall(struct.pack("!BBHI", 4, ECHO_REQUEST, 8, 3))
            if kind == ECHO_REPLY:
                # The claim comes before the echo: who is refused gets no answer.
                return True
    return False


class Check:
    def __init__(self, lab, pki, log):
        self.lab, self.pki, self.log = lab, pki, log
        self.failed = []

    def expect(self, what, holds):
        print(f"{'ok    ' if holds else 'FAILED'} {what}", file=sys.stderr)
        if not holds:
            self.failed.append(what)

    def api(self, resource):
        return json.loads(self.lab.ovs(self.lab.braid, resource, "--json"))[resource]

    def start_controller(self):
        """Its certificate and key lie where they can be replaced."""
        self.use(self.pki.issue("ctl", "controller"))
        identities = self.pki.folder / "identities.toml"
        ids = ", ".join(f'"{dpid}"' for dpid in SWITCHES.values())
        identities.write_text(f'[[switch]]\ncertificate = "fabric"\ndatapath_ids = [{ids}]\n')
        self.process = subprocess.Popen(
            [self.lab.braid, "lab", "exec", self.lab.name, "--", self.lab.braid, "controller", "run"]
            + ["--openflow", f"127.0.0.1:{PORT}", "--openflow-tls", "required"]
            + ["--openflow-tls-certificate", str(self.pki.folder / "current-cert.pem")]
            + ["--openflow-tls-key", str(self.pki.folder / "current-key.pem")]
            + ["--openflow-tls-ca", str(self.pki.switches), "--openflow-identities", str(identities)]
            + ["--openflow-pins", str(self.pki.folder / "pins.toml")],
            stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        self.lab.running.append(self.process)
        self.process.stdout.readline()

    def use(self, pair):
        for source, name in zip(pair, ("current-cert.pem", "current-key.pem")):
            shutil.copy(source, self.pki.folder / name)

    def hang_up(self):
        os.kill(self.process.pid, signal.SIGHUP)

    def set_ssl(self, pair, authority):
        self.lab.ovs("ovs-vsctl", "del-ssl", "--", "set-ssl", pair[1], pair[0], str(authority))

    def connect(self):
        for switch in SWITCHES:
            self.lab.ovs(
                "ovs-vsctl", "set-controller", switch, f"ssl:127.0.0.1:{PORT}",
                "--", "set", "controller", switch, "max_backoff=1000", "connection_mode=out-of-band",
            )

    def connected(self):
        return sorted(switch["dpid"] for switch in self.api("switches"))

    def alarms(self, kind):
        return [alarm for alarm in self.api("alarms") if alarm["kind"] == kind]

    def raises(self, what, kind, words, action):
        """The action raises an alarm of this kind whose text has these words."""
        before = sum(alarm["count"] for alarm in self.alarms(kind))
        action()
        end = time.monotonic() + 15
        while time.monotonic() < end:
            new = [alarm for alarm in self.alarms(kind) if words in alarm["text"]]
            if new and sum(alarm["count"] for alarm in self.alarms(kind)) > before:
                return self.expect(f"{what}: alarm {kind}", True)
            time.sleep(0.3)
        print(json.dumps(self.api("alarms"), indent=1), file=sys.stderr)
        self.expect(f"{what}: alarm {kind} with {words!r}", False)

    def refused(self, what, kind, words, pair, dpid):
        self.raises(what, kind, words, lambda: self.expect(f"{what}: refused", self.claims(pair, dpid) == "refused"))

    def claims(self, pair, dpid):
        return FakeSwitch.run(self.lab, self.pki, "claim", pair, dpid)

    def joins(self, pair, dpid):
        return FakeSwitch.run(self.lab, self.pki, "enter", pair, dpid) == "joined"


def joins_and_carries_ping(check):
    check.set_ssl(check.pki.issue("fabric", "switch"), check.pki.controllers)
    check.connect()
    wait_until("both switches have joined", lambda: check.connected() == sorted(SWITCHES.values()))
    wait_until("the link is known", lambda: len(check.api("links")) == 2)
    time.sleep(3)
    ping = subprocess.run(
        [check.lab.braid, "lab", "exec", check.lab.name, "alpha", "--", "ping", "-c", "5", "-i", "0.3", "10.0.0.2"],
        capture_output=True, text=True,
    )
    check.expect("Open vSwitch joins over ssl: and carries ping", ping.returncode == 0)


def strangers_are_refused(check, other):
    expired = check.pki.issue_until("expired", "switch", "20200101000000Z", "20210101000000Z")
    check.refused("no certificate", "refused_connection", "has no certificate", None, "0000000000000009")
    check.refused("another authority", "refused_connection", "not signed by an authority", other, "0000000000000009")
    check.refused("an expired certificate", "refused_connection", "has expired", expired, "0000000000000009")
    old = check.pki.issue_version_1("old")
    check.refused("X.509 version 1", "refused_connection", "version 1", old, "0000000000000009")
    check.refused(
        "a certificate of the controller's authority", "refused_connection", "not signed by an authority",
        check.pki.pair("ctl"), "0000000000000001",
    )
    thief = check.pki.issue("thief", "switch")
    check.refused("somebody else's datapath id", "foreign_datapath_id", '"fabric"', thief, SWITCHES["s1"])
    named = check.pki.issue("00000000000000ab", "switch")
    check.expect("a certificate named as a datapath id may claim it", check.claims(named, "00000000000000ab") == "joined")
    check.refused("another one than its name", "foreign_datapath_id", "00000000000000ab", named, "00000000000000ac")
    late = check.pki.issue("late", "switch")
    check.expect("a claim alone pins nothing", check.claims(late, "0000000000000033") == "joined")
    check.expect("first use pins a datapath id", check.joins(thief, "0000000000000033"))
    check.refused("a pinned datapath id", "foreign_datapath_id", '"thief"', late, "0000000000000033")


def a_hijack_is_refused_while_the_owner_stays(check, log_path):
    """With the owner's own certificate, which somebody has stolen."""
    check.raises(
        "a second connection with a datapath id in use", "duplicate_datapath_id", SWITCHES["s1"],
        lambda: hijack(check),
    )
    check.expect("the owner stays", check.connected() == sorted(SWITCHES.values()))
    left = [line for line in Path(log_path).read_text().splitlines() if "switch disconnected" in line]
    owners = [line for line in left if "switch closed" in line and any(dpid in line for dpid in SWITCHES.values())]
    check.expect("no owner was disconnected", not owners)


def hijack(check):
    """A second Open vSwitch would do the whole handshake; so does a second bridge with the same datapath id."""
    check.lab.ovs(
        "ovs-vsctl", "add-br", "twin", "--", "set", "bridge", "twin", "datapath_type=netdev", "fail_mode=secure",
        "protocols=OpenFlow13", f"other_config:datapath-id={SWITCHES['s1']}", "other_config:disable-in-band=true",
        "--", "set-controller", "twin", f"ssl:127.0.0.1:{PORT}",
        "--", "set", "controller", "twin", "max_backoff=1000", "connection_mode=out-of-band",
    )
    time.sleep(3)
    check.lab.ovs("ovs-vsctl", "del-br", "twin")


def reload_keeps_connections(check):
    before = certificate(check)
    joined = {switch["dpid"]: switch.get("address") for switch in check.api("switches")}
    soon = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + 3 * 86_400))
    check.use(check.pki.issue_until("ctl2", "controller", "20200101000000Z", soon))
    check.raises("a certificate that ends soon", "certificate_expiry", "of the controller expires in", check.hang_up)
    wait_until("new connections get the new certificate", lambda: certificate(check) != before, 15)
    now = {switch["dpid"]: switch.get("address") for switch in check.api("switches")}
    check.expect("connections stay when certificates are read again", now == joined)
    check.use((str(check.pki.switches), str(check.pki.switches)))
    check.hang_up()
    time.sleep(1)
    check.expect("invalid files change nothing", check.claims(check.pki.pair("00000000000000ab"), "00000000000000ab") == "joined")
    metrics = check.lab.ovs("curl", "-s", "http://127.0.0.1:8653/metrics")
    for holder in ("controller", "authority", SWITCHES["s1"]):
        check.expect(f"a metric for {holder}", f'expiry_timestamp_seconds{{holder="{holder}"}}' in metrics)


def a_denied_switch_is_disconnected(check):
    """Open vSwitch's certificate loses one of its two datapath ids: that bridge is closed, the other stays."""
    check.use(check.pki.pair("ctl"))
    identities = check.pki.folder / "identities.toml"
    both = identities.read_text()
    identities.write_text(f'[[switch]]\ncertificate = "fabric"\ndatapath_ids = ["{SWITCHES["s1"]}"]\n')
    check.raises("a denied switch", "foreign_datapath_id", "fabric", check.hang_up)
    wait_until("the denied switch is gone", lambda: check.connected() == [SWITCHES["s1"]], 15)
    identities.write_text(both)
    check.hang_up()
    wait_until("it is back once it may", lambda: check.connected() == sorted(SWITCHES.values()), 30)
    check.expect("a denied switch is disconnected, and comes back when it may", True)


def certificate(check):
    """The certificate that new connections get."""
    code = (
        "import socket, ssl, sys; c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); c.check_hostname = False; "
        "c.verify_mode = ssl.CERT_NONE; c.load_cert_chain(sys.argv[1], sys.argv[2]); "
        f"print(c.wrap_socket(socket.create_connection(('127.0.0.1', {PORT}))).getpeercert(True).hex())"
    )
    return check.lab.ovs("python3", "-c", code, *check.pki.pair("late"))


def switches_refuse_a_foreign_controller(check, other_pki):
    """Open vSwitch does not talk to a controller that another authority vouches for, and the log says why."""

    def connect_anew():
        check.set_ssl(check.pki.pair("fabric"), other_pki.controllers)
        check.lab.ovs("ovs-vsctl", "del-controller", "s2")
        check.lab.ovs("ovs-vsctl", "set-controller", "s2", f"ssl:127.0.0.1:{PORT}")

    what, words = "a switch that trusts another authority", "does not trust this program's certificate"
    check.raises(what, "refused_connection", words, connect_anew)


def a_lab_runs_over_tls(check):
    """Bridges and edges, with certificates that the lab issues."""
    command = [check.lab.braid, "lab", "run", str(HERE / "lab.yaml"), "--name", "tls-check-lab", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True)
    print(ran.stderr, file=sys.stderr)
    check.expect("a lab with edges runs over TLS", ran.returncode == 0 and json.loads(ran.stdout)["rows"])


def run(lab, pki, other_pki, log, log_path):
    check = Check(lab, pki, log)
    lab.deploy()
    check.start_controller()
    joins_and_carries_ping(check)
    strangers_are_refused(check, other_pki.issue("stranger", "switch"))
    a_hijack_is_refused_while_the_owner_stays(check, log_path)
    reload_keeps_connections(check)
    a_denied_switch_is_disconnected(check)
    switches_refuse_a_foreign_controller(check, other_pki)
    a_lab_runs_over_tls(check)
    print(json.dumps({"schema": "braid/v1", "failed": check.failed}))
    return 5 if check.failed else 0


class TlsLab(Lab):
    def deploy(self):
        return json.loads(
            self.run("lab", "deploy", str(HERE / "tls.yaml"), "--name", self.name, "--no-controller", "--json")
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--log", help="what the controller says")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log_path = arguments.log or f"{folder}/controller.log"
        folders = [Path(folder) / name for name in ("own", "other")]
        for path in folders:
            path.mkdir()
        own, other = (Pki(path) for path in folders)
        with TlsLab(arguments.braid, "tls-check") as lab, open(log_path, "w") as log:
            sys.exit(run(lab, own, other, log, log_path))


if __name__ == "__main__":
    main()
