#!/usr/bin/python3
"""How much later first packets arrive, whose rules the controller must write, than packets for which there are rules.

    first_packets.py [--braid PROGRAM] [--connections NUMBER] [--rate A_SECOND] [--json]

Needs root, tcpdump and Multipath TCP. Builds two hosts with two paths of three switches between them on Open vSwitch, opens
Multipath TCP connections of two subflows each over IPv4 and IPv6, and compares, for each subflow, how long its SYN and how long its third
packet, the ACK, take from one host's interface to the other's.
"""

import argparse
import contextlib
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

LAB = "first-packets"
PORT = 7100
# Of both hosts. Of several IPv6 addresses the kernel would take the second path's for the first subflow.
ENDS = [(socket.AF_INET, "10.0.0.1", "10.0.0.2"), (socket.AF_INET6, "fd00::1", "fd00::2")]
SCENARIO = f"""
scenario: {LAB}
topology:
  hosts:
    - name: left
      interfaces:
        - {{ name: eth0, addresses: [10.0.0.1/24, 10.0.0.11/24, "fd00::1/64", "fd00::11/64"] }}
      mptcp:
        subflows: 1
        endpoints: [{{ address: 10.0.0.11, flags: [subflow] }}, {{ address: "fd00::11", flags: [subflow] }}]
    - name: right
      interfaces: [{{ name: eth0, addresses: [10.0.0.2/24, "fd00::2/64"] }}]
      mptcp: {{ subflows: 1 }}
  switches: [west, north, south, east]
  links:
    - {{ between: [left.eth0, west], rate: 1Gbit }}
    - {{ between: [right.eth0, east], rate: 1Gbit }}
    - {{ between: [west, north], rate: 1Gbit }}
    - {{ between: [north, east], rate: 1Gbit }}
    - {{ between: [west, south], rate: 1Gbit }}
    - {{ between: [south, east], rate: 1Gbit }}
"""
SYN, ACK = 0x02, 0x10
MPTCP_OPTION, MP_JOIN = 30, 1


def listen():
    listener = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind(("::", PORT))
    listener.listen(1024)
    print("ready", flush=True)

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(1024):
                connection.sendall(data)

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=[connection], daemon=True).start()


def connect(count, rate):
    """Each connection exchanges some bytes until its second subflow has had time to open."""
    for number in range(count):
        family, source, target = ENDS[number % 2]
        with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as stream:
            stream.settimeout(10)
            stream.bind((source, 0))
            stream.connect((target, PORT))
            for _ in range(3):
                stream.sendall(b"now")
                stream.recv(1024)
                time.sleep(1 / rate / 3)


def frames(capture):
    """When each frame was seen, in nanoseconds, and the frame."""
    data = capture.read_bytes()
    order = "<" if data[:4] == b"\x4d\x3c\xb2\xa1" else ">"
    at = 24
    while at + 16 <= len(data):
        seconds, nanoseconds, held, _ = struct.unpack_from(order + "IIII", data, at)
        yield seconds * 10**9 + nanoseconds, data[at + 16:at + 16 + held]
        at += 16 + held


def tcp(frame):
    """The addresses and ports, the flags, and whether it is an MP_JOIN; nothing for what is not TCP."""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x0800:
        start, ends = 14 + (frame[14] & 15) * 4, frame[26:34]
    elif kind == 0x86DD and frame[20] == 6:
        start, ends = 54, frame[22:54]
    else:
        return None
    options, joins, at = frame[start + 20:start + (frame[start + 12] >> 4) * 4], False, 0
    while at < len(options) and options[at] != 0:
        length = 1 if options[at] == 1 else max(2, options[at + 1])
        joins |= options[at] == MPTCP_OPTION and options[at + 2] >> 4 == MP_JOIN
        at += length
    return ends + frame[start:start + 4], frame[start + 13], joins


def first_two(capture):
    """Of each stream from the left: when its first SYN and the ACK after it were seen, and whether it joins."""
    streams = {}
    for when, frame in frames(capture):
        packet = tcp(frame)
        if packet is None:
            continue
        stream, flags, joins = packet
        if flags & (SYN | ACK) == SYN:
            streams.setdefault(stream, [when, None, joins])
        elif flags & ACK and stream in streams and streams[stream][1] is None:
            streams[stream][1] = when
    return streams


def compare(left, right):
    """Microseconds on the way, by kind of packet."""
    sent, arrived = first_two(left), first_two(right)
    ways = {name: [] for name in ("first SYN", "join SYN", "ACK", "first SYN, added", "join SYN, added")}
    for stream, (syn, ack, joins) in sent.items():
        if stream not in arrived or ack is None or arrived[stream][1] is None:
            continue
        syn_took, ack_took = ((there - here) / 1e3 for here, there in zip((syn, ack), arrived[stream]))
        name = "join SYN" if joins else "first SYN"
        ways[name].append(syn_took)
        ways[f"{name}, added"].append(syn_took - ack_took)
        ways["ACK"].append(ack_took)
    return ways, len(sent)


def inside(braid, host, *command, **options):
    return subprocess.Popen([braid, "lab", "exec", LAB, host, "--", *command], **options)


@contextlib.contextmanager
def captured(braid, host, file):
    command = ["tcpdump", "-i", "eth0", "-s", "200", "-U", "--time-stamp-precision=nano", "-w", str(file), f"dst port {PORT}"]
    with inside(braid, host, *command, stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()
        try:
            yield
        finally:
            time.sleep(1)
            process.terminate()


def measure(braid, folder, connections, rate):
    this = [sys.executable, str(Path(__file__).resolve())]
    with inside(braid, "right", *this, "listen", stdout=subprocess.PIPE) as server:
        try:
            server.stdout.readline()
            with captured(braid, "left", folder / "left"), captured(braid, "right", folder / "right"):
                subprocess.run([braid, "lab", "exec", LAB, "left", "--", *this, "connect", str(connections), str(rate)], check=True)
        finally:
            server.terminate()
    return compare(folder / "left", folder / "right")


def summary(values):
    ordered = sorted(values)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.99)] if ordered else [None, None]
    return {"packets": len(ordered), "p50_us": at[0], "p99_us": at[1], "max_us": ordered[-1] if ordered else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--braid", default="braid")
    parser.add_argument("--connections", type=int, default=400)
    parser.add_argument("--rate", type=float, default=10, help="connections a second")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.yaml"
        file.write_text(SCENARIO)
        subprocess.run([arguments.braid, "lab", "deploy", str(file)], check=True, stdout=subprocess.DEVNULL)
        try:
            time.sleep(3)
            ways, sent = measure(arguments.braid, Path(folder), arguments.connections, arguments.rate)
        finally:
            subprocess.run([arguments.braid, "lab", "destroy", LAB], check=True, stdout=subprocess.DEVNULL)
    table = {name: summary(values) for name, values in ways.items()}
    if arguments.json:
        print(json.dumps({"schema": "braid/v1", "streams": sent, "delays": table}))
    else:
        print(f"{'microseconds':18}{'count':>6}{'p50':>10}{'p99':>10}{'most':>10}")
        for name, row in table.items():
            took = "".join(f"{row[key]:10.0f}" if row[key] is not None else "         -" for key in ("p50_us", "p99_us", "max_us"))
            print(f"{name:18}{row['packets']:6}{took}")
    complete = all(table[name]["packets"] == arguments.connections for name in ("first SYN", "join SYN"))
    return 0 if complete else 5


if __name__ == "__main__":
    if sys.argv[1:2] == ["listen"]:
        listen()
    elif sys.argv[1:2] == ["connect"]:
        connect(int(sys.argv[2]), float(sys.argv[3]))
    else:
        sys.exit(main())
