#!/usr/bin/env python3
"""One site's traffic to the Internet by another site: over all lines, with the other site's address, and nothing stays of it.

Usage, as root: tests/edge/gateway.py BRAID

    host - site = 2 lines = site - Internet

All in network namespaces. The right site translates addresses (nat), the left one sends it everything. A host behind the left site
reaches a server on the Internet, which sees the right site's address, also once the networks in the file have changed. Then the
right site is killed, started again and ended: each time its table of nftables goes, and another table stays. Ends with 1 where
that is not so.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import edge
import sites
from edge import inside, run

PLACES = sites.Places("gate", ["i"])
[INTERNET] = PLACES.between
SERVER = "203.0.113.1"
SERVE = """
import socket
server = socket.create_server(("", 80))
print(flush=True)
while True:
    connection, address = server.accept()
    connection.sendall(address[0].encode())
    connection.close()
"""
ASK = f'import socket;s=socket.create_connection(("{SERVER}",80),5);print(s.recv(99).decode())'


def build():
    """Both sites have their lines at the Internet, which forwards between them."""
    for side, site in enumerate(PLACES.sites):
        for line in (1, 2):
            edge.cable((site, f"wan{line}"), (INTERNET, f"{'ab'[side]}{line}"))
            run(f"ip -n {INTERNET} address add {gateway(side, line)}/24 dev {'ab'[side]}{line}")
            run(f"ip -n {site} address add {address(side, line)}/24 dev wan{line}")
            run(f"ip -n {site} route add default via {gateway(side, line)} dev wan{line} metric {line}")
    run(f"ip -n {INTERNET} address add {SERVER}/32 dev lo")


def gateway(side, line):
    return f"198.51.{10 * side + line}.1"


def address(side, line):
    return f"198.51.{10 * side + line}.2"


def files(braid, folder):
    configs = sites.files(folder, sites.keys(braid, folder), {line: address(1, line) for line in (1, 2)})
    left, right = (Path(config) for config in configs)
    left.write_text(left.read_text().replace('"10.2.0.0/16"', '"0.0.0.0/0"') + 'address = "10.1.255.1/32"\n')
    right.write_text(right.read_text() + "nat = true\n")
    return configs


def reach():
    """The address that the server sees; nothing if it is not reached."""
    return inside(PLACES.hosts[0], f"{sys.executable} {PLACES.folder}/ask.py", check=False).strip()


def tables():
    return run(f"ip netns exec {PLACES.sites[1]} nft list tables").split("\n")[:-1]


def expect(what, got, wanted):
    print(f"{what}: {got}")
    if got != wanted:
        sys.exit(f"wanted {wanted}")


def change_networks(config, process, before, after):
    """Routes and translation follow the file at SIGHUP."""
    Path(config).write_text(Path(config).read_text().replace(before, after))
    process.send_signal(signal.SIGHUP)
    for what in ("nft list table inet braid-braid0", "ip route show dev braid0"):
        sites.until(f"{what} shows {after} alone", lambda: after in (shown := inside(PLACES.sites[1], what)) and before not in shown, 5)


def check(braid, configs):
    own, other = "table inet braid-braid0", "table inet other"
    with sites.running(braid, PLACES, configs) as processes:
        sites.until("both paths are up", lambda: all(path["up"] for path in sites.paths(braid, configs[0])))
        sites.until("the server is reached", reach)
        expect("the server sees", reach(), address(1, 1))
        expect("the box itself reaches it, too", run(f"ip netns exec {PLACES.sites[0]} {sys.executable} {PLACES.folder}/ask.py").strip(), address(1, 1))
        expect("tables", sorted(tables()), sorted([own, other]))
        change_networks(configs[1], processes[1], "10.1.0.0/16", "10.1.0.0/17")
        expect("with other networks, the server sees", reach(), address(1, 1))
        run(f"pkill -P {processes[1].pid} nft")
        sites.until("the table whose process was killed is there again", lambda: own in tables(), 5)
        change_networks(configs[1], processes[1], "10.1.0.0/17", "10.1.0.0/16")
        change_networks(configs[1], processes[1], "10.1.0.0/16", "10.1.0.0/18")
        expect("and after it began anew", reach(), address(1, 1))
        expect("nft has failed to answer", "does not answer" in Path(f"{configs[1]}.log").read_text(), False)
        processes[1].kill()
        sites.until("the table of a killed site goes", lambda: tables() == [other], 5)
        expect("after a kill", tables(), [other])
    with sites.running(braid, PLACES, configs):
        sites.until("the server is reached again", reach)
        expect("after a new start", sorted(tables()), sorted([own, other]))
    expect("after the end", tables(), [other])


def main():
    braid = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, sites.kept(PLACES):
        PLACES.folder = folder
        Path(folder, "ask.py").write_text(ASK)
        build()
        inside(PLACES.sites[1], "nft add table inet other")
        configs = files(braid, folder)
        serve = ["ip", "netns", "exec", INTERNET, sys.executable, "-c", SERVE]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        try:
            server.stdout.readline()
            check(braid, configs)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
