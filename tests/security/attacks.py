#!/usr/bin/env python3
"""Attacks on the sockets of a controller and of an edge, each while honest clients are served.

tests/security/attacks.py --braid PATH [--only NAME ...]      (root; takes about two minutes)

Everything runs in a network namespace of its own: the controller at 10.66.0.1, honest clients in 10.66.1.0/24, attackers
in 10.66.2.0/24. An honest switch sends echoes all the time in a process of its own. Exits with 1 if a limit does not hold.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import re
import resource
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from openflow import ERROR, HELLO, connect, join, message

CONTROLLER, HONEST, ATTACKER = "10.66.0.1", "10.66.1.1", "10.66.2.66"
OPENFLOW, HTTP, HTTPS = (CONTROLLER, 6653), (CONTROLLER, 8653), (CONTROLLER, 8654)
TOKEN = "0123456789abcdef0123456789abcdef"
# An echo or a request that takes longer was kept out. The machines that run this are slow, the braid may be a debug build.
SERVED = 4.0


class Failed(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failed(text)


class Controller:
    """`braid controller run`, with its log."""

    def __init__(self, braid, folder, name, *options):
        self.log = folder / f"{name}.log"
        with self.log.open("w") as log:
            command = [braid, "controller", "run", *options]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        ready = self.process.stdout.readline()
        check(ready, f"the controller does not start:\n{self.log.read_text()}")

    def log_size(self):
        return self.log.stat().st_size

    def lines_since(self, size):
        with self.log.open() as log:
            log.seek(size)
            return log.read().splitlines()

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def get(path, source=HONEST, to=HTTP, method="GET", headers=None, body=None, timeout=30):
    """The status, the body and the seconds of a request."""
    start = time.monotonic()
    connection = http.client.HTTPConnection(*to, timeout=timeout, source_address=(source, 0))
    if to == HTTPS:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(*to, timeout=timeout, source_address=(source, 0), context=context)
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        text = response.read().decode()
    return response.status, text, time.monotonic() - start


def items(name):
    status, text, _ = get(f"/api/v1/{name}?limit=1000")
    check(status == 200, f"{name}: {status} {text}")
    return json.loads(text)[name]


def alarms(kind):
    return [alarm for alarm in items("alarms") if alarm["kind"] == kind]


def honest_switch(stop, results):
    """An honest switch that sends an echo every 50 ms; how long each took, and whether it stayed."""

    async def run():
        switch = await join(OPENFLOW, 1, HONEST)
        results.put(switch is not None)
        sent = 0
        while switch and not stop.is_set() and not switch.closed.done():
            switch.echo()
            sent += 1
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        results.put((sent, switch.round_trips if switch else [], bool(switch and not switch.closed.done())))

    asyncio.run(run())


@contextlib.contextmanager
def served_meanwhile():
    """An honest switch is connected meanwhile, stays so, and its echoes are answered."""
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    process = multiprocessing.Process(target=honest_switch, args=(stop, results))
    process.start()
    check(results.get(timeout=30), "the honest switch cannot join before the attack")
    try:
        yield
    finally:
        stop.set()
        sent, round_trips, stayed = results.get(timeout=30)
        process.join(10)
    check(stayed, "the honest switch was disconnected")
    slowest = max(round_trips, default=float("inf"))
    check(len(round_trips) >= sent * 0.9 and slowest < SERVED, f"{len(round_trips)} of {sent} echoes, {slowest:.1f} s")
    print(f"    honest switch: {sent} echoes, slowest {slowest * 1e3:.0f} ms")


def bounded_log(controller, before, what, most=400):
    time.sleep(11)  # what was left out is reported after 10 s
    lines = controller.lines_since(before)
    reports = [line for line in lines if re.search(r"\.\.\. [\d,]+ more of this kind in \d+ s", line)]
    print(f"    {what}: {len(lines)} lines; {reports[0].split('WARN')[-1].strip()[:90] if reports else 'no report'}")
    check(len(lines) <= most, f"{len(lines)} lines, of which the last is {lines[-1]}")
    check(reports, "what was left out is not reported")


def error_flood(controller):
    """A joined switch that sends errors fills no log."""

    async def flood():
        switch = await join(OPENFLOW, 2, ATTACKER)
        check(switch, "the attacker cannot join")
        errors = message(ERROR, struct.pack("!HH", 1, 1) + bytes(8), 7) * 500
        end, sent = time.monotonic() + 4, 0
        while time.monotonic() < end and not switch.closed.done():
            if switch.transport.get_write_buffer_size() < 1 << 20:
                switch.transport.write(errors)
                sent += 500
            await asyncio.sleep(0)
        switch.transport.abort()
        return sent

    before = controller.log_size()
    sent = asyncio.run(flood())
    bounded_log(controller, before, f"{sent} errors")


def refused_flood(controller):
    """Connections that are refused one after the other fill no log, and raise one alarm."""
    before, end, count = controller.log_size(), time.monotonic() + 4, 0
    while time.monotonic() < end:
        with socket.create_connection(OPENFLOW, 5, (ATTACKER, 0)) as peer, contextlib.suppress(OSError):
            peer.sendall(b"\xff" * 64)
            while peer.recv(4096):
                pass
        count += 1
    bounded_log(controller, before, f"{count} refused connections")
    of_attacker = [alarm for alarm in alarms("refused_connection") if alarm["peer"] == ATTACKER]
    check(len(of_attacker) == 1 and of_attacker[0]["count"] >= count * 0.9, f"alarms: {of_attacker}")


def many_claims(controller):
    """A peer that claims one datapath id after the other has one limit in the log."""
    before, end, count = controller.log_size(), time.monotonic() + 4, 0

    async def claim():
        nonlocal count
        while time.monotonic() < end:
            switch = await connect(OPENFLOW, 0x9000 + count, ATTACKER, 10)
            if switch:
                await asyncio.wait([switch.joined], timeout=5)
                switch.transport.write(b"\xff" * 64)
                await asyncio.wait([switch.closed], timeout=5)
            count += 1

    async def attack():
        await asyncio.gather(*(claim() for _ in range(4)))

    asyncio.run(attack())
    time.sleep(1)
    lines = [line for line in controller.lines_since(before) if "switch disconnected" in line and ATTACKER in line]
    print(f"    {count} datapath ids, {len(lines)} lines about {ATTACKER}")
    check(count > 64, "too few connections: that is no attack")
    check(len(lines) <= 64, f"{len(lines)} lines about one peer")


def phantom_switches(_controller):
    """4,200 phantom switches from one address keep no other out."""

    async def attack():
        phantoms, gate = [], asyncio.Semaphore(64)

        async def one(number):
            async with gate:
                switch = await connect(OPENFLOW, 0x1000 + number, ATTACKER, 10)
                if switch:
                    phantoms.append(switch)
                    await asyncio.wait([switch.joined], timeout=5)

        await asyncio.gather(*(one(number) for number in range(4_200)))
        honest = await asyncio.gather(*(join(OPENFLOW, 0x100 + it, f"10.66.1.{10 + it}") for it in range(23)))
        await asyncio.sleep(1)
        alive = [switch for switch in honest if switch and not switch.closed.done()]
        kept = [switch for switch in phantoms if not switch.closed.done()]
        for switch in [*honest, *phantoms]:
            if switch:
                switch.transport.abort()
        return len(alive), len(kept)

    alive, kept = asyncio.run(attack())
    print(f"    {alive} of 23 honest switches joined beside {kept} phantoms")
    check(alive == 23, f"{alive} of 23 honest switches joined")
    check(kept <= 256, f"{kept} phantoms are connected")


def half_open(_controller):
    """3,000 connections that say HELLO and nothing else keep nobody out."""

    async def attack():
        peers = []
        for number in range(3_000):
            source = f"10.66.2.{1 + number % 200}"
            peer = socket.socket()
            peer.bind((source, 0))
            peer.setblocking(False)
            with contextlib.suppress(OSError):
                peer.connect(OPENFLOW)
            peers.append(peer)
            if number % 100 == 0:
                await asyncio.sleep(0.01)
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.send(message(HELLO))
        honest = await asyncio.gather(*(join(OPENFLOW, 0x200 + it, f"10.66.1.{10 + it}") for it in range(23)))
        joined = sum(switch is not None for switch in honest)
        for switch in filter(None, honest):
            switch.transport.abort()
        for peer in peers:
            peer.close()
        return joined

    joined = asyncio.run(attack())
    print(f"    {joined} of 23 honest switches joined")
    check(joined == 23, f"{joined} of 23 honest switches joined")


def duplicate_datapath_id(_controller):
    """A second connection with the datapath id of the honest switch is refused with an alarm."""

    async def attack():
        switch = await connect(OPENFLOW, 1, ATTACKER)
        done, _ = await asyncio.wait([switch.closed], timeout=10)
        return bool(done)

    check(asyncio.run(attack()), "the second connection stays open")
    raised = alarms("duplicate_datapath_id")
    check(raised and raised[0]["peer"] == ATTACKER and raised[0]["holder"] == HONEST, f"alarms: {raised}")


def one_byte(to, encrypted):
    """2,048 connections of which each sends one byte of a request; then an honest request."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    async def attack():
        gate, writers = asyncio.Semaphore(64), []

        async def one(number):
            async with gate:
                options = {"ssl": context} if encrypted else {}
                source = f"10.66.2.{1 + number % 8}"
                with contextlib.suppress(OSError, ssl.SSLError, asyncio.TimeoutError):
                    opening = asyncio.open_connection(*to, local_addr=(source, 0), **options)
                    _, writer = await asyncio.wait_for(opening, 10)
                    writers.append(writer)
                    writer.write(b"G")

        await asyncio.gather(*(one(number) for number in range(2_048)))
        headers = {"Authorization": f"Bearer {TOKEN}"} if encrypted else {}
        honest = await asyncio.to_thread(get, "/api/v1/switches", HONEST, to, "GET", headers)
        for writer in writers:
            writer.transport.abort()
        return honest, len(writers)

    (status, _, seconds), opened = asyncio.run(attack())
    print(f"    beside {opened} connections, an honest request took {seconds * 1e3:.0f} ms")
    check(opened >= 256, f"only {opened} connections could be opened: that is no attack")
    check(status == 200 and seconds < SERVED, f"{status} after {seconds:.1f} s")


def http_one_byte(_controller):
    """2,048 HTTP connections with one byte each hold nobody up."""
    one_byte(HTTP, False)


def https_one_byte(_controller):
    """2,048 TLS connections with one byte each hold nobody up."""
    one_byte(HTTPS, True)


def raw(lines):
    with socket.create_connection(HTTP, 10, (HONEST, 0)) as peer:
        peer.sendall(("\r\n".join([*lines, "Connection: close", "", ""])).encode())
        answer = b""
        while part := peer.recv(4096):
            answer += part
    return int(answer.split(b" ")[1])


def dns_rebinding(_controller):
    """A page whose name was made to point to the controller reads and changes nothing."""
    evil = "evil.example:8653"
    foreign = {"Host": evil, "Origin": f"http://{evil}"}
    check(get("/api/v1/switches", headers=foreign)[0] == 403, "GET with a stranger's Host passes")
    measure = "/api/v1/links/measure?dpid=1&port=1"
    check(get(measure, method="POST", headers=foreign)[0] == 403, "POST with a stranger's Host passes")
    first = "GET /api/v1/switches HTTP/1.1"
    own = f"Host: {CONTROLLER}:8653"
    check(raw([first, own]) == 200, "a good request is refused")
    for name, lines in [("missing", []), ("doubled", [own, own]), ("contradicting", [own, f"Host: {evil}"])]:
        check(raw([first, *lines]) == 400, f"a {name} Host is not answered with 400")


def wrong_tokens(controller):
    """Wrong tokens are slowed, logged within bounds, and raise an alarm; the right one is served meanwhile."""
    with_token = lambda token: {"Authorization": f"Bearer {token}"}
    start, before = time.monotonic(), controller.log_size()
    for number in range(9):
        status = get("/api/v1/switches", ATTACKER, HTTPS, headers=with_token(f"{number:032}"))[0]
        check(status == 401, f"a wrong token gets {status}")
    seconds = time.monotonic() - start
    print(f"    9 wrong tokens took {seconds:.1f} s")
    check(seconds > 2, "wrong tokens are answered as fast as they come")
    status, text, _ = get("/api/v1/alarms", HONEST, HTTPS, headers=with_token(TOKEN))
    raised = [alarm for alarm in json.loads(text)["alarms"] if alarm["kind"] == "wrong_token"]
    check(status == 200 and raised and raised[0]["peer"] == ATTACKER, f"alarms: {raised}")
    check(any(ATTACKER in line for line in controller.lines_since(before)), "wrong tokens are not logged")


def empty_policy(_controller):
    """A PUT of the policy without a body erases nothing."""
    status = get("/api/v1/policy", HONEST, HTTPS, "PUT", {"Authorization": f"Bearer {TOKEN}"})[0]
    check(status == 400, f"an empty policy is answered with {status}")


def edge_listener(controller, braid):
    """Idle connections do not keep an edge from its own controller, and by default it listens nowhere."""
    subprocess.run("ip link add e0 type veth peer name e1 && ip link set e0 up && ip link set e1 up", shell=True, check=True)
    command = [braid, "edge", "run", "--port", "e0", "--dpid", "00000000000000ed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as edge:
        ready = json.loads(edge.stdout.readline())
        edge.terminate()
    check(ready["openflow"] == [], f"an edge listens on {ready['openflow']} by default")
    command += ["--listen", "127.0.0.1:6634", "--controller", "%s:%d" % OPENFLOW]
    with contextlib.ExitStack() as stack:
        edge = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        stack.callback(edge.terminate)
        edge.stdout.readline()
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", 6634), 5))
        deadline = time.monotonic() + 20
        while not any(switch["dpid"] == "00000000000000ed" for switch in items("switches")):
            check(time.monotonic() < deadline, "the edge does not reach its controller")
            time.sleep(0.2)
        unread_answers(edge.pid)


def unread_answers(edge):
    """A client of the edge asks for 60 MB and reads nothing."""
    memory = lambda: int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{edge}/status").read_text())[1]) / 1024
    before, sent = memory(), 0
    echo = message(2, bytes(60_000))
    with socket.create_connection(("127.0.0.1", 6634), 5) as greedy:
        greedy.sendall(message(HELLO))
        greedy.settimeout(1)
        with contextlib.suppress(TimeoutError, ConnectionError):
            for _ in range(1_000):
                greedy.sendall(echo)
                sent += len(echo)
        grown = memory() - before
    print(f"    an edge took {sent >> 20} MiB of requests whose answers nobody reads, and {grown:.0f} MiB of memory")
    check(grown < 24, f"unread answers take {grown:.0f} MiB")


def certificate(folder):
    key, chain = folder / "key.pem", folder / "chain.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=braid.example", "-addext", f"subjectAltName=IP:{CONTROLLER}", "-addext", "basicConstraints=CA:FALSE"]
    command += [*names, "-keyout", str(key), "-out", str(chain)]
    subprocess.run(command, check=True, capture_output=True)
    tokens = folder / "tokens.toml"
    tokens.touch(mode=0o600)
    tokens.write_text(f'[[token]]\nname = "operator"\ntoken = "{TOKEN}"\naccess = "change"\n')
    return ["--tls-certificate", str(chain), "--tls-key", str(key), "--tokens", str(tokens)]


# Each with the controller that it attacks.
ATTACKS = {
    "errors": (error_flood, "plain"),
    "refused": (refused_flood, "plain"),
    "claims": (many_claims, "plain"),
    "duplicate": (duplicate_datapath_id, "plain"),
    "half-open": (half_open, "plain"),
    "phantoms": (phantom_switches, "plain"),
    "http": (http_one_byte, "plain"),
    "rebinding": (dns_rebinding, "plain"),
    "edge": (edge_listener, "plain"),
    "https": (https_one_byte, "encrypted"),
    "tokens": (wrong_tokens, "encrypted"),
    "policy": (empty_policy, "encrypted"),
}


def run(braid, names):
    failed = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        address = lambda it: "%s:%d" % it
        plain = ["--openflow", address(OPENFLOW), "--openflow-trusted", "--http", address(HTTP), "--http-trusted"]
        encrypted = ["--openflow", "127.0.0.1:0", "--http", address(HTTPS), *certificate(folder)]
        controllers = {}
        for name, options in [("plain", plain), ("encrypted", encrypted)]:
            controllers[name] = Controller(braid, folder, name, *options)
            stack.callback(controllers[name].stop)
        for name in names:
            attack, target = ATTACKS[name]
            print(f"{name}: {attack.__doc__}", flush=True)
            start = time.monotonic()
            try:
                with served_meanwhile():
                    attack(controllers[target], *([braid] if attack is edge_listener else []))
                for controller in controllers.values():
                    check(controller.process.poll() is None, "the controller has ended")
                print(f"    ok, {time.monotonic() - start:.0f} s", flush=True)
            except (Failed, OSError) as error:
                failed.append(name)
                print(f"    FAILED: {error}", flush=True)
    print(f"attacks: {len(names) - len(failed)} held off, {len(failed)} failed {' '.join(failed)}")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", required=True, type=os.path.abspath)
    parser.add_argument("--only", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("a network namespace needs root: sudo tests/security/attacks.py …")
    if "BRAID_ATTACKS_INSIDE" not in os.environ:
        os.environ["BRAID_ATTACKS_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    resource.setrlimit(resource.RLIMIT_NOFILE, (16_384, max(16_384, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    subprocess.run("ip link set lo up && ip route add local 10.66.0.0/16 dev lo", shell=True, check=True)
    sys.exit(not run(arguments.braid, arguments.only))


if __name__ == "__main__":
    main()
