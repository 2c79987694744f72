"""Switch models that speak just enough OpenFlow 1.3 to join a controller, honest and hostile ones."""

import asyncio
import struct
import time

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY, FEATURES_REQUEST, FEATURES_REPLY = 0, 1, 2, 3, 5, 6
MULTIPART_REQUEST, MULTIPART_REPLY, BARRIER_REQUEST, BARRIER_REPLY, ROLE_REQUEST, ROLE_REPLY = 18, 19, 20, 21, 24, 25
PORT_DESC, FLOW, GROUP_DESC = 13, 1, 7


def message(kind, body=b"", xid=0):
    return struct.pack("!BBHI", 4, kind, 8 + len(body), xid) + body


def port(number):
    live = 4
    return struct.pack("!I4x6s2x16s8I", number, bytes([2, 0, 0, 0, 0, number]), b"p", 0, live, 0, 0, 0, 0, 0, 0)


class Switch(asyncio.Protocol):
    """A switch with two ports and no rules. `joined` is done once the handshake is."""

    def __init__(self, dpid):
        self.dpid, self.unread, self.transport = dpid, b"", None
        self.joined = asyncio.get_running_loop().create_future()
        self.closed = asyncio.get_running_loop().create_future()
        self.round_trips = []

    def connection_made(self, transport):
        self.transport = transport
        transport.write(message(HELLO))

    def connection_lost(self, _error):
        for future in (self.joined, self.closed):
            if not future.done():
                future.set_result(False)

    def data_received(self, data):
        self.unread += data
        while len(self.unread) >= 8:
            _, kind, length, xid = struct.unpack_from("!BBHI", self.unread)
            if length < 8 or len(self.unread) < length:
                return
            body, self.unread = self.unread[8:length], self.unread[length:]
            self.answer(kind, xid, body)

    def answer(self, kind, xid, body):
        reply = lambda kind, body=b"": self.transport.write(message(kind, body, xid))
        if kind == ECHO_REQUEST:
            reply(ECHO_REPLY, body)
        elif kind == ECHO_REPLY and len(body) == 8:
            self.round_trips.append(time.monotonic() - struct.unpack("!d", body)[0])
        elif kind == BARRIER_REQUEST:
            reply(BARRIER_REPLY)
        elif kind == FEATURES_REQUEST:
            reply(FEATURES_REPLY, struct.pack("!QIBB2xII", self.dpid, 0, 254, 0, 1, 0))
        elif kind == ROLE_REQUEST:
            reply(ROLE_REPLY, struct.pack("!I4x8s", 2, body[8:16]))
        elif kind == MULTIPART_REQUEST:
            self.describe(struct.unpack_from("!H", body)[0], reply)

    def describe(self, what, reply):
        if what in (PORT_DESC, FLOW, GROUP_DESC):
            ports = port(1) + port(2) if what == PORT_DESC else b""
            reply(MULTIPART_REPLY, struct.pack("!HH4x", what, 0) + ports)
            if what == GROUP_DESC and not self.joined.done():
                self.joined.set_result(True)

    def echo(self):
        self.transport.write(message(ECHO_REQUEST, struct.pack("!d", time.monotonic())))


async def connect(to, dpid, source, timeout=5, context=None):
    """A switch that connects from `source`, with TLS if it has a context; `None` if it cannot connect."""
    loop = asyncio.get_running_loop()
    opening = loop.create_connection(lambda: Switch(dpid), *to, local_addr=(source, 0), ssl=context)
    try:
        _, switch = await asyncio.wait_for(opening, timeout)
        return switch
    except (OSError, asyncio.TimeoutError):
        return None


async def join(to, dpid, source, timeout=20, context=None):
    """A switch that has joined and was kept; `None` if it was not let in."""
    switch = await connect(to, dpid, source, timeout, context)
    if switch is None:
        return None
    done, _ = await asyncio.wait([switch.joined], timeout=timeout)
    return switch if done and switch.joined.result() else None
