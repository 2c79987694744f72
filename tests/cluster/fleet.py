"""Three controllers, each in a network namespace of its own, and three etcds beside the switches of a lab; what can be cut between them.

Namespaces belong to processes that end with the check, so nothing is left of them.
"""

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SWITCHES_AT = "10.99.0.1"
STORES = [f"10.99.0.{number}" for number in (21, 22, 23)]
MEMBERS = {"a": "10.99.0.11", "b": "10.99.0.12", "c": "10.99.0.13"}
BRIDGE = "members"


class Stores:
    """An etcd of three, in memory."""

    def __init__(self, lab, log):
        self.lab = lab
        self.log = log
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
        atexit.register(self.forget)
        self.running = []

    def start(self, new=True):
        peers = ",".join(f"e{number}=http://{at}:2380" for number, at in enumerate(STORES))
        for number, at in enumerate(STORES):
            client, peer = f"http://{at}:2379", f"http://{at}:2380"
            self.running.append(subprocess.Popen(
                [self.lab.braid, "lab", "exec", self.lab.name, "--", "etcd", "--name", f"e{number}"]
                + ["--data-dir", f"{self.folder}/e{number}", "--listen-client-urls", client, "--advertise-client-urls", client]
                + ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", peers]
                + ["--initial-cluster-state", "new" if new else "existing"],
                stdout=self.log, stderr=self.log,
            ))
        self.lab.running += self.running

    def stop(self):
        for process in self.running:
            process.kill()
            process.wait()
        self.running = []

    def keep(self):
        """Copies what they have; they are stopped for it."""
        self.stop()
        shutil.copytree(self.folder, f"{self.folder}-kept")
        self.start()

    def restore(self):
        """What was kept, in the place of what they have."""
        self.stop()
        shutil.rmtree(self.folder)
        shutil.move(f"{self.folder}-kept", self.folder)
        self.start()

    def wipe(self):
        self.stop()
        for part in self.folder.iterdir():
            shutil.rmtree(part)
        self.start()

    def compact(self):
        """Forgets all older revisions."""
        ask = "import json, urllib.request as u; c = lambda p, b: json.load(u.urlopen('http://%s:2379/v3/' + p, json.dumps(b).encode()))" % STORES[0]
        now = "int(c('kv/range', {'key': 'AA=='})['header']['revision'])"
        self.lab.ovs("python3", "-c", f"{ask}; c('kv/compaction', {{'revision': {now}, 'physical': True}}); c('maintenance/defragment', {{}})")

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(f"{self.folder}-kept", ignore_errors=True)


class Member:
    """A controller in a namespace of its own, and who watches whether it is master of all switches."""

    def __init__(self, lab, name, switches, log, program=None):
        self.lab, self.name, self.log = lab, name, log
        self.program = program or lab.braid
        self.address = MEMBERS[name]
        self.masters = [(0.0, False)]
        self.process = None
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"])
        lab.running.append(self.holder)
        time.sleep(0.3)
        self.connect()
        watch = self.inside("python3", str(HERE / "watch.py"), str(switches), "8653")
        threading.Thread(target=self.read, args=[watch], daemon=True).start()

    def connect(self):
        port = f"member-{self.name}"
        self.lab.ovs("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        self.lab.ovs("ip", "link", "set", port, "master", BRIDGE, "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", f"{self.address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            self.call("ip", *words)
        self.call("nft", "add table inet cut; add chain inet cut in { type filter hook input priority 0; }; add chain inet cut out { type filter hook output priority 0; }")

    def there(self, *command):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--", *command]

    def call(self, *command):
        return subprocess.run(self.there(*command), check=True, capture_output=True, text=True).stdout

    def inside(self, *command, stderr=None):
        process = subprocess.Popen(self.there(*command), stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.lab.running.append(process)
        return process

    def start(self):
        stores = ",".join(f"{at}:2379" for at in STORES)
        self.process = self.inside(
            self.program, "controller", "run", "--openflow", f"{self.address}:6653", "--openflow-trusted",
            "--http", "127.0.0.1:8653", "--cluster", f"etcd://{stores}", "--cluster-member", self.name,
            "--cluster-listen", f"{self.address}:7653", "--cluster-trusted",
            # Every connection is placed, however many one host opens.
            "--port-new-streams", "0", "--port-packet-ins", "0", stderr=self.log,
        )
        if not self.process.stdout.readline():
            sys.exit(f"member {self.name} does not start")

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def read(self, watch):
        for line in watch.stdout:
            told = json.loads(line)
            self.masters.append((told["time"], told["master"] is not None))

    def is_master(self):
        return self.masters[-1][1]

    def master_after(self, since):
        """When it became master of all switches, after that."""
        return next((at for at, is_master in self.masters if is_master and at > since), None)

    def ask(self, *words):
        return json.loads(self.call(self.lab.braid, *words, "--json"))

    def cut(self, addresses, directions):
        """Drops what it sends to these addresses (`out`), or what it gets from them (`in`)."""
        hosts = "{ " + ", ".join(addresses) + " }"
        for direction in directions:
            field = {"in": "saddr", "out": "daddr"}[direction]
            self.call("nft", f"add rule inet cut {direction} ip {field} {hosts} drop")

    def heal(self):
        self.call("nft", "flush chain inet cut in; flush chain inet cut out")


def make_bridge(lab):
    """Where members, etcds and switches meet."""
    lab.ovs("ip", "link", "add", BRIDGE, "type", "bridge")
    for address in [SWITCHES_AT, *STORES]:
        lab.ovs("ip", "address", "add", f"{address}/24", "dev", BRIDGE)
    lab.ovs("ip", "link", "set", BRIDGE, "up")
