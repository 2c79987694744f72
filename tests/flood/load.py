#!/usr/bin/python3
"""What hosts of a flooded network do. Runs on the hosts of a lab.

    load.py serve                             takes connections and closes them; answers datagrams
    load.py ask RATE ADDRESS                  sends datagrams; at SIGTERM prints how many were not answered
    load.py connect RATE ADDRESS...           opens connections one after the other; at SIGTERM prints how long each took
    load.py flood KIND RATE SECONDS ADDRESS... sends what the controller must see; prints how much

KIND: mptcp (SYNs with MP_CAPABLE), syn (without), arp (for addresses that nobody has), scan (datagrams to such),
spoof (SYNs from addresses that nobody has), lldp (forged discovery frames).
"""

import asyncio
import json
import random
import signal
import socket
import struct
import sys
import time

PORT = 7100
# Longer than the kernel waits before it sends a SYN again, so that a lost one shows as a second or more.
TIMEOUT = 5
INTERFACE = "eth0"
SOMEBODY = bytes.fromhex("020000000099")
MP_CAPABLE = bytes([30, 4, 0x01, 0x01])


async def stopped():
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def endpoint():
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    made.setblocking(False)
    return made


async def serve():
    listener = endpoint()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen(1024)

    async def take(_, writer):
        writer.close()

    await asyncio.start_server(take, sock=listener)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("", PORT))
    datagrams.setblocking(False)
    asyncio.get_running_loop().add_reader(datagrams, lambda: datagrams.sendto(*datagrams.recvfrom(64)))
    print("ready", flush=True)
    await stopped()


async def ask(rate, address):
    """Says to the kernel in no way that the neighbour has answered, so that it must ask by itself."""
    loop, sent, answered = asyncio.get_running_loop(), [], set()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setblocking(False)
    datagrams.connect((address, PORT))
    loop.add_reader(datagrams, lambda: answered.add(int(datagrams.recv(64))))
    stop = asyncio.create_task(stopped())
    print("ready", flush=True)
    while not stop.done():
        datagrams.send(str(len(sent)).encode())
        sent.append(time.time())
        await asyncio.sleep(1 / rate)
    await asyncio.sleep(1)
    lost = [at for number, at in enumerate(sent) if number not in answered]
    print(json.dumps({"sent": len(sent), "lost": len(lost), "lost_at": lost[:50]}), flush=True)


async def connected(connection, address):
    """As asyncio's own, which does not know MPTCP."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    connection.connect_ex((address, PORT))
    loop.add_writer(connection, done.set)
    try:
        await done.wait()
    finally:
        loop.remove_writer(connection)
    if error := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        raise OSError(error, "not connected")


async def set_up(address, results):
    connection = endpoint()
    began = time.monotonic()
    try:
        await asyncio.wait_for(connected(connection, address), TIMEOUT)
        results.append((time.time(), time.monotonic() - began))
    except (OSError, asyncio.TimeoutError):
        results.append((time.time(), None))
    finally:
        # With a reset, so that no port waits for stragglers.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


async def connect(rate, addresses):
    results, tasks, began, number = [], set(), time.monotonic(), 0
    stop = asyncio.create_task(stopped())
    print("ready", flush=True)
    while not stop.done():
        await asyncio.sleep(max(0, began + number / rate - time.monotonic()))
        task = asyncio.create_task(set_up(addresses[number % len(addresses)], results))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        number += 1
    await asyncio.gather(*tasks)
    print(json.dumps(results), flush=True)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(src, dst, protocol, payload):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, src, dst)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def syn(src, dst, port, options):
    words = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", port, PORT + 1, port, 0, words << 4, 2, 65_535, 0, 0) + options
    pseudo = src + dst + struct.pack("!HH", 6, len(head))
    return head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]


def frames(kind, mac, own, others):
    """Frames enough for a few seconds, each different."""
    to_somebody = SOMEBODY + mac
    for number in range(50_000):
        dst, port = others[number % len(others)], 10_000 + number
        nobody = socket.inet_aton(f"10.9.{number >> 8}.{number & 255}")
        match kind:
            case "mptcp":
                yield to_somebody + b"\x08\x00" + ip(own, dst, 6, syn(own, dst, port, MP_CAPABLE))
            case "syn":
                yield to_somebody + b"\x08\x00" + ip(own, dst, 6, syn(own, dst, port, b""))
            case "spoof":
                yield to_somebody + b"\x08\x00" + ip(nobody, dst, 6, syn(nobody, dst, port, b""))
            case "scan":
                yield to_somebody + b"\x08\x00" + ip(own, nobody, 17, struct.pack("!HHHH", 9, 9, 8, 0))
            case "arp":
                question = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, 1, mac, own, bytes(6), nobody)
                yield b"\xff" * 6 + mac + b"\x08\x06" + question
            case "lldp":
                yield lldp(mac, number)
            case _:
                sys.exit(__doc__)


def lldp(mac, number):
    def tlv(kind, value):
        return struct.pack("!H", kind << 9 | len(value)) + value

    claim = bytes.fromhex("42524401") + struct.pack("!QIQ", 1, 1, number) + random.randbytes(16)
    named = tlv(1, b"\x071") + tlv(2, b"\x071") + tlv(3, b"\x00\x78")
    return bytes.fromhex("0180c200000e") + mac + b"\x88\xcc" + named + tlv(127, claim) + tlv(0, b"")


def flood(kind, rate, seconds, addresses):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((INTERFACE, 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((addresses[0], 9))
    own = socket.inet_aton(udp.getsockname()[0])
    ready = [*frames(kind, raw.getsockname()[4], own, [socket.inet_aton(other) for other in addresses])]
    print("ready", flush=True)
    began, sent, full = time.monotonic(), 0, 0
    while (passed := time.monotonic() - began) < seconds:
        while sent < passed * rate:
            try:
                raw.send(ready[sent % len(ready)])
            except OSError:
                full += 1
            sent += 1
        time.sleep(0.001)
    print(json.dumps({"sent": sent, "not_taken": full, "rate": round(sent / passed)}), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(serve())
        case ["connect", rate, *addresses]:
            asyncio.run(connect(float(rate), addresses))
        case ["ask", rate, address]:
            asyncio.run(ask(float(rate), address))
        case ["flood", kind, rate, seconds, *addresses]:
            flood(kind, float(rate), float(seconds), addresses)
        case _:
            sys.exit(__doc__)
