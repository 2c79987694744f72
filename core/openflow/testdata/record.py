#!/usr/bin/env python3
"""Records what ovs-ofctl and a user-space Open vSwitch say to each other.

Run as root: `unshare --net ./record.py`. It starts its own ovsdb-server and ovs-vswitchd in a temporary folder,
passes every connection of ovs-ofctl through a relay, and writes the messages to recorded.hex beside it.
"""

import os
import pathlib
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
RELAY, SWITCH = 16633, 16653
TYPES = """hello error echo_request echo_reply experimenter features_request features_reply get_config_request
get_config_reply set_config packet_in flow_removed port_status packet_out flow_mod group_mod port_mod table_mod
multipart_request multipart_reply barrier_request barrier_reply queue_get_config_request queue_get_config_reply
role_request role_reply get_async_request get_async_reply set_async meter_mod""".split()


def run(command, check=True):
    return subprocess.run(shlex.split(command), check=check, capture_output=True, text=True).stdout


class Switch:
    """One ovs-vswitchd with the bridge br0 and two ports, s1 and s2, whose other ends are h1 and h2."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"):
            os.environ[name] = folder
        run(f"ovsdb-tool create {folder}/conf.db /usr/share/openvswitch/vswitch.ovsschema")
        run(f"ovsdb-server {folder}/conf.db --remote=punix:{folder}/db.sock --detach --pidfile --log-file")
        run(f"ovs-vswitchd unix:{folder}/db.sock --detach --pidfile --log-file")
        run("ip link set lo up")
        run("sysctl -w net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
        for number in (1, 2):
            run(f"ip link add s{number} type veth peer name h{number}")
            run(f"ip link set s{number} address 02:00:00:00:01:0{number}")
            run(f"ip link set s{number} up")
            run(f"ip link set h{number} up")
        self.ctl(
            "add-br br0 -- set bridge br0 datapath_type=netdev protocols=OpenFlow10,OpenFlow13"
            " other_config:datapath-id=00000000000000b1 other_config:hwaddr=02:00:00:00:00:b1"
            f" -- set-controller br0 ptcp:{SWITCH}:127.0.0.1"
            " -- add-port br0 s1 -- set interface s1 ofport_request=1"
            " -- add-port br0 s2 -- set interface s2 ofport_request=2"
        )
        self.ctl(
            "set port s1 qos=@q -- --id=@q create qos type=linux-htb queues:0=@r"
            " -- --id=@r create queue other_config:min-rate=1000000 other_config:max-rate=5000000"
        )
        time.sleep(1)

    def ctl(self, command):
        return run(f"ovs-vsctl --db=unix:{self.folder}/db.sock {command}")

    def close(self):
        for daemon in ("ovs-vswitchd", "ovsdb-server"):
            pid = int(pathlib.Path(self.folder, f"{daemon}.pid").read_text())
            run(f"ovs-appctl -t {self.folder}/{daemon}.{pid}.ctl exit")


class Relay:
    """Passes connections on to the switch and keeps what went through."""

    def __init__(self):
        self.frames = []
        self.listener = socket.create_server(("127.0.0.1", RELAY))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            switch = socket.create_connection(("127.0.0.1", SWITCH))
            for source, sink, side in ((client, switch, "controller"), (switch, client, "switch")):
                threading.Thread(target=self.copy, args=(source, sink, side), daemon=True).start()

    def copy(self, source, sink, side):
        pending = b""
        try:
            while data := source.recv(65536):
                pending += data
                while len(pending) >= 8 and len(pending) >= (length := struct.unpack_from("!H", pending, 2)[0]):
                    self.frames.append((side, pending[:length]))
                    pending = pending[length:]
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def take(self):
        time.sleep(0.3)
        frames, self.frames = self.frames, []
        return frames


def is_table_features(frame):
    return frame[1] in (18, 19) and frame[8:10] == b"\0\x0c"


def changes(command):
    return any(f" {verb}" in command for verb in ("add-", "mod-", "del-", "set-frags", "packet-out"))


def shortened(frame):
    """The tables of Open vSwitch are 254 times the same: keep the first of the features, and ten of the counters."""
    if frame[1] == 19 and frame[8:10] == b"\0\x0c":
        return cut(frame, 16 + struct.unpack_from("!H", frame, 16)[0])
    if frame[1] == 19 and frame[8:10] == b"\0\x03":
        return cut(frame, 16 + 10 * 24)
    return frame


def cut(frame, length):
    return frame[:2] + struct.pack("!H", length) + frame[4:length]


class Book:
    """The recorded messages by name; a message whose bytes but for the xid are known is not kept again."""

    def __init__(self):
        self.lines, self.seen, self.names = [], set(), set()

    def add(self, step, command, frames):
        self.lines.append(f"\n# {command}")
        for side, frame in frames:
            frame = shortened(frame)
            kind = TYPES[frame[1]] if frame[1] < len(TYPES) else "unknown"
            # ovs-ofctl asks for ports and tables aside, to know their names.
            aside = changes(command) and kind.startswith(("multipart", "get_config"))
            aside |= is_table_features(frame) and ("features" not in step or f"{step}.{kind}" in self.names)
            if kind == "hello":
                kind = f"{side}_hello"
            key = frame[:4] + frame[8:]
            if aside or key in self.seen:
                continue
            self.seen.add(key)
            self.write(f"{step}.{kind}", side, frame)

    def write(self, name, side, frame):
        number, unique = 2, name
        while unique in self.names:
            unique, number = f"{name}.{number}", number + 1
        self.names.add(unique)
        self.lines.append(f"[{unique}] from {side}")
        text = frame.hex()
        self.lines += [text[at : at + 96] for at in range(0, len(text), 96)]


STEPS = (HERE / "steps.txt").read_text()


def main():
    with tempfile.TemporaryDirectory() as folder:
        switch, relay, book = Switch(folder), Relay(), Book()
        try:
            for line in STEPS.splitlines():
                if line and not line.startswith("#"):
                    step, command = (part.strip() for part in line.split(":", 1))
                    play(switch, relay, book, step, command)
        finally:
            switch.close()
    (HERE / "recorded.hex").write_text("\n".join(book.lines).lstrip() + "\n")


def play(switch, relay, book, step, command):
    words = command.replace("BR", f"tcp:127.0.0.1:{RELAY}")
    if words.startswith("monitor"):
        frames = play_monitor(switch, relay, words)
    elif words.startswith("vsctl"):
        switch.ctl(words.removeprefix("vsctl "))
        return
    else:
        result = subprocess.run(["ovs-ofctl", "-O", "OpenFlow13", *shlex.split(words)], capture_output=True, text=True)
        if result.returncode and "error" not in step:
            print(f"{command}: {result.stderr}", file=sys.stderr)
        frames = relay.take()
    book.add(step, f"ovs-ofctl -O OpenFlow13 {command}", frames)


def play_monitor(switch, relay, words):
    """`monitor ARGUMENTS ; COMMAND ; COMMAND` runs commands of the shell while ovs-ofctl monitor listens."""
    monitor, *commands = [part.strip() for part in words.split(";")]
    listener = subprocess.Popen(
        ["ovs-ofctl", "-O", "OpenFlow13", *shlex.split(monitor), f"--unixctl={switch.folder}/monitor.ctl"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    time.sleep(0.5)
    for command in commands:
        subprocess.run(command.replace("MONITOR", f"ovs-appctl -t {switch.folder}/monitor.ctl"), shell=True, check=True)
        time.sleep(0.3)
    frames = relay.take()
    listener.terminate()
    listener.wait()
    return frames


if __name__ == "__main__":
    main()
