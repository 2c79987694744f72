#!/usr/bin/python3
"""Traffic that notices every packet that is lost. Runs on the hosts of a lab.

    traffic.py serve                              answers streams and probes
    traffic.py streams ADDRESS COUNT BURST PAUSE  MPTCP connections that send numbered blocks and count the answers
    traffic.py probe ADDRESS RATE [FILE]          numbered datagrams, each answered; at SIGTERM prints what is missing,
                                                  and writes when each was sent and answered
    traffic.py flow ADDRESS RATE KIND FILE        one connection, KIND tcp or mptcp, with numbered messages that are answered;
                                                  writes when each was sent and answered
    traffic.py cables                             takes interfaces down and up as it is told, and says when
"""

import asyncio
import contextlib
import fcntl
import json
import signal
import socket
import struct
import sys
import time

PORT = 7000
# A datagram that is answered proves that the neighbour is there, as the kernel itself infers from TCP.
CONFIRM = getattr(socket, "MSG_CONFIRM", 0x800)
# Of linux/sockios.h and linux/if.h.
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


async def serve():
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", PORT))
    listener.listen(1024)

    async def answer(reader, writer):
        # Of an MPTCP connection that was reset, the kernel says that it is not connected.
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(len(data).to_bytes(4, "big"))
                await writer.drain()

    loop = asyncio.get_running_loop()
    await asyncio.start_server(answer, sock=listener)
    probes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probes.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    probes.bind(("", PORT))
    probes.setblocking(False)

    def echo():
        data, address = probes.recvfrom(64)
        probes.sendto(data, CONFIRM, address)

    loop.add_reader(probes, echo)
    print("ready", flush=True)
    await stopped()


async def stopped():
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


async def streams(address, count, burst, pause):
    confirmed = [0] * count
    failed = []

    async def stream(index):
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
        # Of asyncio's own connect, MPTCP is not known.
        await asyncio.get_running_loop().run_in_executor(None, connection.connect, (address, PORT))
        connection.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connection)
        print("open", index, flush=True)
        try:
            while True:
                writer.write(bytes(burst))
                left = burst
                while left > 0:
                    left -= int.from_bytes(await reader.readexactly(4), "big")
                confirmed[index] += burst
                await asyncio.sleep(pause)
        except (OSError, asyncio.IncompleteReadError) as error:
            failed.append(f"{index}: {error}")

    tasks = [asyncio.create_task(stream(index)) for index in range(count)]
    await stopped()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps({"bytes": confirmed, "failed": failed}), flush=True)


async def probe(address, rate, record=None):
    loop = asyncio.get_running_loop()
    probes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probes.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    probes.setblocking(False)
    probes.connect((address, PORT))
    answered = {}

    def note():
        number = int(probes.recv(64))
        answered.setdefault(number, []).append(time.time())

    loop.add_reader(probes, note)
    stop = asyncio.create_task(stopped())
    print("ready", flush=True)
    sent, start, times, late = 0, time.monotonic(), [], []
    while not stop.done():
        # What is late is made up for at once, so that the rate is kept on a busy machine.
        while sent < (time.monotonic() - start) * rate:
            probes.send(str(sent).encode(), CONFIRM)
            times.append(time.time())
            late.append(time.monotonic() - start - sent / rate)
            sent += 1
        await asyncio.sleep(1 / rate)
    await asyncio.sleep(1)
    missing = [number for number in range(sent) if number not in answered]
    twice = sum(1 for arrivals in answered.values() if len(arrivals) > 1)
    if record:
        with open(record, "w") as file:
            json.dump([[at, answered.get(number, [None])[0]] for number, at in enumerate(times)], file)
    lost_at = [round(times[number], 3) for number in missing]
    lost = gaps((times[number], late[number]) for number in missing)
    told = {"sent": sent, "lost": len(missing), "twice": twice, "lost_at": lost_at[:50], "gaps": lost[:50]}
    print(json.dumps(told), flush=True)


def gaps(lost):
    """What was lost within a second of each other: the first and the last time, how many, and how late they were sent at most."""
    found = []
    for at, late in lost:
        if found and at < found[-1]["last"] + 1:
            gap = found[-1]
            gap |= {"last": at, "count": gap["count"] + 1, "late": max(gap["late"], late)}
        else:
            found.append({"first": at, "last": at, "count": 1, "late": late})
    return found


async def flow(address, rate, kind, record):
    loop = asyncio.get_running_loop()
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP if kind == "mptcp" else 0)
    await loop.run_in_executor(None, connection.connect, (address, PORT))
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reader, writer = await asyncio.open_connection(sock=connection)
    times, answered = [], []

    async def note():
        # The server says how many bytes it has read: what it does at once is one answer.
        confirmed = 0
        while True:
            confirmed += int.from_bytes(await reader.readexactly(4), "big")
            answered.extend([time.time()] * (confirmed // 64 - len(answered)))

    noting = asyncio.create_task(note())
    stop = asyncio.create_task(stopped())
    print("ready", flush=True)
    start = time.monotonic()
    while not stop.done():
        while len(times) < (time.monotonic() - start) * rate:
            writer.write(bytes(64))
            times.append(time.time())
        await asyncio.sleep(1 / rate)
    await asyncio.sleep(1)
    noting.cancel()
    answered += [None] * (len(times) - len(answered))
    with open(record, "w") as file:
        json.dump(list(zip(times, answered)), file)
    print(json.dumps({"sent": len(times), "lost": answered.count(None)}), flush=True)


def cables():
    """Lines of `up` or `down` and the names of interfaces; each is answered with the time before and after."""
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    print("ready", flush=True)
    for line in sys.stdin:
        state, *names = line.split()
        begun = time.time()
        for name in names:
            request = struct.pack("16sh14x", name.encode(), 0)
            (flags,) = struct.unpack_from("h", fcntl.ioctl(control, SIOCGIFFLAGS, request), 16)
            flags = flags | IFF_UP if state == "up" else flags & ~IFF_UP
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", name.encode(), flags))
        print(begun, time.time(), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(serve())
        case ["streams", address, count, burst, pause]:
            asyncio.run(streams(address, int(count), int(burst), float(pause)))
        case ["probe", address, rate, *record]:
            asyncio.run(probe(address, int(rate), *record))
        case ["flow", address, rate, kind, record]:
            asyncio.run(flow(address, int(rate), kind, record))
        case ["cables"]:
            cables()
        case _:
            sys.exit(__doc__)
