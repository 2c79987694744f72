#!/usr/bin/env python3
"""Round trips of DNS and SSH between two hosts, as their ports have them: questions over UDP, and keys over TCP.

Usage: tests/edge/urgent.py serve, on one host; tests/edge/urgent.py ask ADDRESS SECONDS, on the other

Asks by each a hundred times a second, whether or not the last one was answered. Prints the median and the 99th percentile of each
in milliseconds, as JSON. What is not answered within a second counts as a second.
"""

import json
import selectors
import socket
import statistics
import struct
import sys
import time

DNS, SSH = 53, 22
INTERVAL = 0.01
LENGTH = 60
PATIENCE = 1.0


def serve():
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(("", DNS))
    keys = socket.create_server(("", SSH))
    waiting = selectors.DefaultSelector()
    for each in (questions, keys):
        waiting.register(each, selectors.EVENT_READ)
    print(flush=True)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is questions:
                content, address = questions.recvfrom(2048)
                questions.sendto(content, address)
            elif key.fileobj is keys:
                connection = keys.accept()[0]
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                waiting.register(connection, selectors.EVENT_READ)
            elif content := key.fileobj.recv(65536):
                key.fileobj.sendall(content)
            else:
                waiting.unregister(key.fileobj)
                key.fileobj.close()


class Asked:
    """One kind of questions, by number."""

    def __init__(self, socket):
        self.socket = socket
        self.sent = {}
        self.took = []
        self.rest = b""

    def ask(self, number):
        self.sent[number] = time.monotonic()
        self.socket.send(struct.pack("!I", number).ljust(LENGTH, b"?"))

    def answered(self):
        self.rest += self.socket.recv(65536)
        while len(self.rest) >= LENGTH:
            number, self.rest = struct.unpack("!I", self.rest[:4])[0], self.rest[LENGTH:]
            if number in self.sent:
                self.took.append(time.monotonic() - self.sent.pop(number))

    def report(self):
        took = self.took + [PATIENCE] * len(self.sent)
        return {"median": 1e3 * statistics.median(took), "p99": 1e3 * statistics.quantiles(took, n=100)[98]}


def ask(address, seconds):
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.connect((address, DNS))
    keys = socket.create_connection((address, SSH))
    keys.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kinds = {"DNS": Asked(questions), "SSH": Asked(keys)}
    waiting = selectors.DefaultSelector()
    for each in kinds.values():
        waiting.register(each.socket, selectors.EVENT_READ, each)
    begun = time.monotonic()
    count = round(seconds / INTERVAL)
    for number in range(count + round(PATIENCE / INTERVAL)):
        if number < count:
            for each in kinds.values():
                each.ask(number)
        due = begun + (number + 1) * INTERVAL
        while (left := due - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                key.data.answered()
    print(json.dumps({name: each.report() for name, each in kinds.items()}))


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else ask(sys.argv[2], float(sys.argv[3]))
