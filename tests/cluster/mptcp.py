"""MPTCP connections that stay open: mptcp.py serve ADDRESS, or mptcp.py hold ADDRESS COUNT.

Each connection carries a byte every half second, so that no rule of it times out. `hold` prints a line once all are open.
"""

import socket
import sys
import threading
import time

PORT = 5201
PAUSE = 0.5


def mptcp():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)


def echo(connection):
    while data := connection.recv(1):
        connection.sendall(data)


def serve(address):
    listener = mptcp()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen()
    while True:
        threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()


def hold(address, count):
    connections = [mptcp() for _ in range(count)]
    for connection in connections:
        connection.connect((address, PORT))
    print("open", flush=True)
    while True:
        for connection in connections:
            connection.sendall(b".")
            connection.recv(1)
        time.sleep(PAUSE)


match sys.argv[1:]:
    case ["serve", address]:
        serve(address)
    case ["hold", address, count]:
        hold(address, int(count))
