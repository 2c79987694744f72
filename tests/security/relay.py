#!/usr/bin/python3
"""Passes frames of one kind between a network interface and a socket of this machine, both ways.

    relay.py listen|connect SOCKET INTERFACE ETHERTYPE

Two of these, each on a host of its own, pose as a link between the switch ports of both hosts.
"""

import select
import socket
import sys

WHOLE = 65_536
# linux/if_packet.h: what this host has sent itself.
PACKET_OUTGOING = 4


def peer(role, path):
    """The other relay. Each message is a frame."""
    own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if role == "connect":
        own.connect(path)
        return own
    own.bind(path)
    own.listen(1)
    print("listening", flush=True)
    return own.accept()[0]


def main():
    role, path, interface, kind = sys.argv[1:]
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(int(kind, 16)))
    wire.bind((interface, int(kind, 16)))
    far = peer(role, path)
    print("relays", flush=True)
    while True:
        readable, _, _ = select.select([wire, far], [], [])
        if wire in readable:
            frame, (_, _, direction, *_) = wire.recvfrom(WHOLE)
            if direction != PACKET_OUTGOING:
                far.send(frame)
        if far in readable:
            frame = far.recv(WHOLE)
            if not frame:
                return
            wire.send(frame)


if __name__ == "__main__":
    main()
