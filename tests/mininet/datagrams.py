#!/usr/bin/python3
"""Sends numbered datagrams to everybody on the link, or prints the numbers of those that arrive.

    datagrams.py send ipv4|ipv6 INTERFACE COUNT
    datagrams.py receive ipv4|ipv6
"""

import socket
import sys
import time

PORT = 7777
FAMILIES = {"ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
# Mininet's hosts are in 10.0.0.0/8; ff02::1 is all nodes of the link (RFC 4291 section 2.7.1).
EVERYBODY = {"ipv4": "10.255.255.255", "ipv6": "ff02::1"}


def send(family, interface, count):
    with socket.socket(FAMILIES[family], socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        for number in range(int(count)):
            sender.sendto(str(number).encode(), (EVERYBODY[family], PORT))
            time.sleep(0.1)


def receive(family):
    with socket.socket(FAMILIES[family], socket.SOCK_DGRAM) as receiver:
        receiver.bind(("", PORT))
        print("ready", flush=True)
        while True:
            print(receiver.recv(64).decode(), flush=True)


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
