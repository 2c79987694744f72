#!/usr/bin/env python3
"""Two sites with two uplinks each behind address translators: one plain TCP flow over both, encrypted; then moves and attacks.

Usage, as root: tests/edge/internet.py BRAID [SECONDS [RATE]]

    host - site = 2 translators = 2 lines of 20 ms = 2 translators - site - host

All in network namespaces. The left site dials, the first uplink by a name that leads to a wrong address at first; the right
translators forward one port to the right site. While packets pass, the right site's file changes: a third site, in the place of
a translator, comes and goes, and files with mistakes are refused. Prints what iperf3 reaches over one uplink and over both (of
RATE, 10 Mbit/s), and how long DNS and SSH take with idle uplinks and while four flows fill both, after the sites have stood
still for a quarter of a second, as processes do on a busy machine. Then a copy passes while the left site's address changes,
while a translator forgets, and while an uplink is removed, and a stranger repeats and changes datagrams that it has recorded.
Ends with 1 if both uplinks carry less than 1.8 times what one does, if the median of DNS or SSH is more than 1.5 times that of
idle uplinks (the 99th percentile is the target, and is shown), if a change of the file loses a packet or a session, if a copy
differs, or if a datagram is accepted twice.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import edge
import sites
from edge import inside, run
from sites import PORT, paths, status, until

NAME = "right.example.org"
PLACES = sites.Places("site", [*(f"{side}{uplink}" for side in "ab" for uplink in (1, 2)), "l"])
HOSTS, SITES = PLACES.hosts, PLACES.sites
# By side and uplink.
TRANSLATORS = [PLACES.between[:2], PLACES.between[2:4]]
LINES = PLACES.between[4]
WANTED = 1.8
WANTED_RATIO = 1.5
DELAY = "20ms"
QUEUE = "200 packets"
THIRD = SimpleNamespace(sites=[TRANSLATORS[1][0]])
URGENT = Path(__file__).with_name("urgent.py")
TRANSLATE = """
table ip translate {
    chain out { type nat hook postrouting priority srcnat; oifname "out" masquerade random; }
    chain in { type nat hook prerouting priority dstnat; iifname "out" udp dport %d dnat to %s:%d; }
}
"""


def outside(side, uplink):
    """A translator's address at the other side's translator."""
    return f"198.51.100.{4 * uplink + 1 + side}"


def within(side, uplink, host=2):
    return f"192.168.{10 * (side + 1) + uplink}.{host}"


def build():
    for side in (0, 1):
        for uplink in (1, 2):
            attach(side, uplink)
            translator, end = TRANSLATORS[side][uplink - 1], f"{'ab'[side]}{uplink}"
            edge.cable((translator, "out"), (LINES, end))
            sites.plain(translator, "out")
            sites.plain(LINES, end)
            translate(side, uplink)


def attach(side, uplink, host=2):
    site, translator = SITES[side], TRANSLATORS[side][uplink - 1]
    edge.cable((site, f"wan{uplink}"), (translator, "in"))
    run(f"ip -n {translator} address add {within(side, uplink, 1)}/24 dev in")
    number(side, uplink, host)


def number(side, uplink, host):
    """The address and the default route, as from DHCP."""
    site = SITES[side]
    run(f"ip -n {site} address flush dev wan{uplink}")
    run(f"ip -n {site} address add {within(side, uplink, host)}/24 dev wan{uplink}")
    run(f"ip -n {site} route add default via {within(side, uplink, 1)} dev wan{uplink} metric {uplink}")


def translate(side, uplink):
    translator = TRANSLATORS[side][uplink - 1]
    run(f"ip -n {translator} address add {outside(side, uplink)}/30 dev out")
    rules = TRANSLATE % (PORT, within(side, uplink), PORT)
    subprocess.run(["ip", "netns", "exec", translator, "nft", "-f", "-"], input=rules, text=True, check=True)


@contextlib.contextmanager
def network(braid, rate):
    direction = {"rate": f"{rate}Mbit", "delay": DELAY, "jitter": "0ms", "distribution": "uniform", "loss": "0%", "queue": QUEUE}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(sites.kept(PLACES))
        build()
        stack.enter_context(sites.lines(braid, folder, LINES, [direction] * 2, 1))
        configs = sites.files(folder, sites.keys(braid, folder), {1: NAME, 2: outside(1, 2)})
        hosts = Path(folder, "hosts")
        hosts.write_text(f"{outside(1, 3)} {NAME}\n")
        processes = stack.enter_context(sites.running(braid, PLACES, configs, hosts))
        until("the path to an address is up", lambda: are_up(braid, configs, [False, True]))
        hosts.write_text(f"{outside(1, 1)} {NAME}\n")
        until("the path to a name is up", lambda: are_up(braid, configs, [True, True]))
        until("both are at the other end", lambda: all(path["up"] for path in paths(braid, configs[1])))
        yield configs, processes


def are_up(braid, configs, wanted):
    return [path["up"] for path in paths(braid, configs[0])] == wanted


def files_of_third(braid, folder, right):
    """The file of a third site, and what the right one's file has of it."""
    public = run(f"{braid} site keygen {folder}/c.key").strip()
    text = f'private_key = "c.key"\nstatus = "{folder}/c.sock"\nuplink = [{{ interface = "in" }}]\nlan = {{ address = "10.3.0.1/24" }}\n'
    text += f'[[peer]]\nname = "right"\npublic_key = "{right}"\nnetworks = ["10.2.0.0/16"]\naddresses = ["{within(1, 1)}:{PORT}"]\n'
    Path(folder, "c.toml").write_text(text)
    return f"{folder}/c.toml", f'[[peer]]\nname = "third"\npublic_key = "{public}"\nnetworks = ["10.3.0.0/16"]\n'


def sessions(braid, configs):
    peers = [peer for config in configs for peer in status(braid, config)["peers"]]
    return [(peer["name"], [(path["sessions"], path["cipher"]) for path in peer["paths"]]) for peer in peers]


def reloads(braid, configs, processes, size):
    """The right site's file changes while packets pass between the hosts."""
    file, log = Path(configs[1]), Path(f"{configs[1]}.log")
    before, first = sessions(braid, configs), file.read_text()
    third, peer = files_of_third(braid, file.parent, status(braid, configs[1])["public_key"])

    def change(text, said):
        begun = len(log.read_text())
        file.write_text(text)
        processes[1].send_signal(signal.SIGHUP)
        until(f"the log has {said!r}", lambda: said in log.read_text()[begun:])

    def refuse():
        change(first.replace("[lan]", "[lam]"), f"{file}:")
        change(f"port = 7\n{first}", "to change port")
        if status(braid, configs[1])["reloaded"]:
            sys.exit("a refused reload is not in the status")
        file.write_text(first)

    ping = subprocess.Popen(f"ip netns exec {HOSTS[0]} ping -q -i 0.01 -c 1000 10.2.0.2".split(), stdout=subprocess.PIPE, text=True)
    try:
        change(first.replace("[[peer]]", f"{peer}[[peer]]"), "added third")
        with sites.running(braid, THIRD, [third]):
            until("the third site is reached", lambda: " 0% packet loss" in inside(HOSTS[1], "ping -c 1 -W 1 10.3.0.1", check=False))
        change(first, "removed third")
        if ping.poll() is not None:
            sys.exit("the pings were over before the third site was removed")
    finally:
        pings = ping.communicate()[0].strip().split("\n")[-2]
    is_whole, seconds = copy(refuse, size)
    after = sessions(braid, configs)
    print(f"the file changes: {pings}; copy {'equal' if is_whole else 'DIFFERENT'} after {seconds:.1f} s")
    if " 0% packet loss" not in pings or not is_whole or after != before:
        sys.exit(f"wanted nothing lost, the copy whole, and no other sessions: {before}, {after}")


def comes_up_filtered(config):
    """The second uplink of the left site comes up while reverse path filtering is strict there, which the log says."""
    inside(SITES[0], "sysctl -qw net.ipv4.conf.wan2.rp_filter=1")
    run(f"ip -n {SITES[0]} link set wan2 up")
    until("the log names the setting", lambda: "net.ipv4.conf.wan2.rp_filter=2" in Path(f"{config}.log").read_text())
    inside(SITES[0], "sysctl -qw net.ipv4.conf.wan2.rp_filter=0")


def iperf(seconds):
    return sites.iperf(PLACES, f"-t {seconds} -O 2")


def stand_still(processes):
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for process in processes:
            process.send_signal(number)
        time.sleep(0.25)


def waits(processes, seconds):
    """The round trips of urgent packets with idle uplinks, and while both are full."""
    where = ["ip", "netns", "exec", HOSTS[1], sys.executable, URGENT, "serve"]
    server = subprocess.Popen(where, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    ask = f"{sys.executable} {URGENT} ask 10.2.0.2 {seconds}"
    try:
        idle = json.loads(inside(HOSTS[0], ask))
        with sites.server(PLACES):
            words = f"ip netns exec {HOSTS[0]} iperf3 -c 10.2.0.2 -C cubic -P 4 -t {seconds + 10} --json"
            bulk = subprocess.Popen(words.split(), stdout=subprocess.PIPE, text=True)
            try:
                time.sleep(3)
                stand_still(processes)
                time.sleep(2)
                full = json.loads(inside(HOSTS[0], ask))
                result = json.loads(bulk.communicate()[0])
            finally:
                bulk.kill()
                bulk.wait()
        if "error" in result:
            sys.exit(f"iperf3: {result['error']}")
        return idle, full, edge.received(result["end"])
    finally:
        server.kill()
        server.wait()


def compare_waits(processes, seconds):
    """Prints what urgent packets take; whether full uplinks delay them little."""
    idle, full, rate = waits(processes, seconds)
    ratios = []
    for kind in idle:
        median, p99 = (full[kind][name] / idle[kind][name] for name in ("median", "p99"))
        ratios.append(median)
        shown = ", ".join(f"{name} {it[kind]['median']:.1f} and {it[kind]['p99']:.1f} ms" for name, it in (("idle", idle), ("full", full)))
        print(f"{kind}, median and 99th percentile: {shown}, {median:.2f} and {p99:.2f} times; bulk {rate:.1f} Mbit/s")
    return max(ratios) <= WANTED_RATIO


SERVE = "import socket,sys,hashlib\ns=socket.create_server(('',7000))\nprint(flush=True)\nc,_=s.accept()\nh=hashlib.sha256()\nwhile b:=c.recv(65536): h.update(b)\nprint(h.hexdigest())"
SEND = "import socket,sys\ns=socket.create_connection(('10.2.0.2',7000))\ns.sendfile(open(sys.argv[1],'rb'))\ns.close()"


def copy(disturb, size):
    """A copy while something happens; whether it arrives whole, and how long it took."""
    content = os.urandom(size)
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        where = ["ip", "netns", "exec"]
        server = subprocess.Popen([*where, HOSTS[1], "python3", "-c", SERVE], stdout=subprocess.PIPE, text=True)
        server.stdout.readline()
        begun = time.monotonic()
        client = subprocess.Popen([*where, HOSTS[0], "python3", "-c", SEND, file.name])
        try:
            time.sleep(2)
            disturb()
            is_whole = server.communicate(timeout=90)[0].strip() == hashlib.sha256(content).hexdigest()
            return is_whole, time.monotonic() - begun
        finally:
            for process in (client, server):
                process.kill()
                process.wait()


def forget(side, uplink):
    """A translator loses its memory: masquerading ends with the address that it used, and takes other ports later."""
    translator = TRANSLATORS[side][uplink - 1]
    run(f"ip -n {translator} address del {outside(side, uplink)}/30 dev out")
    run(f"ip -n {translator} address add {outside(side, uplink)}/30 dev out")


def remove(side, uplink):
    run(f"ip -n {SITES[side]} link delete wan{uplink}")


def attack(seconds):
    """Records what passes here to the site, and sends it again, changed or not."""
    record = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    record.bind(("out", 0))
    record.settimeout(1)
    frames, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            packet = record.recv(2048)
            if packet[9] == 17 and packet[16:20] == socket.inet_aton(outside(1, 1)):
                frames.append(packet[28:])
    forger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for number, frame in enumerate(random.choices(frames, k=20_000)):
        changed = bytearray(frame)
        if number % 2:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        forger.sendto(changed, (within(1, 1), PORT))
    print(len(frames))


def moves(braid, configs, size):
    """What happens to uplinks while a copy passes."""
    happen = {
        "the left site's address changes": lambda: number(0, 1, 77),
        "a translator forgets": lambda: forget(0, 2),
        "an uplink is removed": lambda: remove(0, 2),
    }
    for what, disturb in happen.items():
        is_whole, seconds = copy(disturb, size)
        print(f"{what}: copy {'equal' if is_whole else 'DIFFERENT'} after {seconds:.1f} s")
        if not is_whole:
            sys.exit("wanted every copy whole")
    attach(0, 2)
    until("the uplink that came back is used", lambda: all(path["up"] for path in paths(braid, configs[0])))
    print("the uplink came back, and is used")


def attacked(braid, configs, size):
    before = status(braid, configs[1])
    thread = threading.Thread(target=lambda: inside(TRANSLATORS[1][0], f"python3 {__file__} attack 2"))
    is_whole, seconds = copy(thread.start, size)
    thread.join()
    after = status(braid, configs[1])
    remotes = [[path["remote"].split(":")[0] for path in it["peers"][0]["paths"]] for it in (before, after)]
    refused = after["forged"] + after["strange"] - before["forged"] - before["strange"]
    print(f"attacked: {refused} of 20000 datagrams refused; copy {'equal' if is_whole else 'DIFFERENT'} after {seconds:.1f} s")
    # What the kernel had no room for was not judged.
    if not is_whole or remotes[0] != remotes[1] or refused < 15_000:
        sys.exit(f"wanted all refused, the copy whole, and nobody to move: {remotes}, {after}")


def idle(processes):
    """The part of a core that both sites take without traffic."""
    time.sleep(4)
    before, begun = edge.cores(processes), time.monotonic()
    time.sleep(5)
    return sum(edge.cores(processes)) - sum(before), time.monotonic() - begun


def main():
    if sys.argv[1] == "attack":
        return attack(float(sys.argv[2]))
    braid = os.path.abspath(sys.argv[1])
    seconds, rate = (int(word) for word in (sys.argv[2:] + ["12", "10"][len(sys.argv) - 2 :])[:2])
    size = rate * 125_000 * 6
    with network(braid, rate) as (configs, processes):
        reloads(braid, configs, processes, size)
        run(f"ip -n {SITES[0]} link set wan2 down")
        until("one path is down", lambda: are_up(braid, configs, [True, False]))
        one = iperf(seconds)
        comes_up_filtered(configs[0])
        number(0, 2, 2)
        until("both paths are up again", lambda: all(path["up"] for path in paths(braid, configs[0])))
        both = iperf(seconds)
        print(run(f"{braid} site status {configs[0]}"))
        is_quick = compare_waits(processes, max(seconds, 10))
        print(f"one uplink {one:.1f} Mbit/s, both {both:.1f}, {both / one:.2f} times")
        moves(braid, configs, size)
        attacked(braid, configs, size)
        used, time_taken = idle(processes)
        print(f"idle: {100 * used / time_taken:.1f} % of a core for both sites")
        if both < WANTED * one:
            sys.exit(f"wanted at least {WANTED} times")
        if not is_quick:
            sys.exit(f"wanted at most {WANTED_RATIO} times the median of idle uplinks")


if __name__ == "__main__":
    main()
