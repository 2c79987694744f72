"""A lab with a controller that hosts can reach, and a GridFTP server on one of them."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HTTP = 8653
SERVER_PORT = 2811
ANONYMOUS = ("-aa", "-anonymous-user", "nobody")
SWITCHES = [f"sw{number}" for number in range(1, 7)]
ADDRESS = {"hosta": "10.0.0.1", "hostb": "10.0.0.2"}


class Testbed:
    """Hosts, switches, a management link from each host to the controller, and programs; all removed at the end."""

    def __init__(self, braid, tools, scenario, name):
        self.braid, self.tools, self.name = braid, Path(tools), name
        self.scenario = TOP / "scenarios" / scenario
        self.running, self.is_connected = [], False

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir="/dev/shm"))
        self.folder.chmod(0o777)
        try:
            self.lab("deploy", str(self.scenario), "--name", self.name, "--no-controller")
            for number, host in enumerate(ADDRESS):
                self.connect_management(host, number)
            self.start_controller()
            self.find_hosts()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
            if process.poll() is None:
                process.kill()
        subprocess.run([self.braid, "lab", "destroy", self.name], check=False, capture_output=True)
        for host in ADDRESS:
            shutil.rmtree(f"/etc/netns/{self.namespace(host)}", ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def namespace(self, host=None):
        return f"bl-{self.name}.{host}" if host else f"bl-{self.name}"

    def lab(self, *command):
        done = subprocess.run([self.braid, "lab", *command], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout

    def command(self, host, *command):
        return ["ip", "netns", "exec", self.namespace(host), *command]

    def inside(self, host, *command, **options):
        options = {"check": True, "capture_output": True, "text": True, **options}
        return subprocess.run(self.command(host, *command), **options)

    def start(self, host, *command, **options):
        process = subprocess.Popen(self.command(host, *command), text=True, **options)
        self.running.append(process)
        return process

    def connect_management(self, host, number):
        """A link of its own to the controller, and the host's name."""
        here, there = self.controller_address(host), f"192.0.2.{4 * number + 2}"
        ends = ["ip", "link", "add", "mgmt", "netns", self.namespace(host), "type", "veth"]
        subprocess.run([*ends, "peer", "name", f"mgmt{number}", "netns", self.namespace()], check=True)
        for space, interface, address in [(host, "mgmt", there), (None, f"mgmt{number}", here)]:
            self.inside(space, "ip", "address", "add", f"{address}/30", "dev", interface)
            self.inside(space, "ip", "link", "set", interface, "up")
        names = Path(f"/etc/netns/{self.namespace(host)}")
        names.mkdir(parents=True, exist_ok=True)
        known = "".join(f"{address} {name}\n" for name, address in ADDRESS.items())
        (names / "hosts").write_text(f"127.0.0.1 localhost\n{known}{ADDRESS[host]} {socket.gethostname()}\n")

    def controller_address(self, host):
        return f"192.0.2.{4 * list(ADDRESS).index(host) + 1}"

    def start_controller(self):
        options = ["--http", f"0.0.0.0:{HTTP}", "--http-trusted", "--network", str(self.scenario)]
        log = open(self.folder / "controller.log", "w")
        self.controller = self.start(
            None, self.braid, "controller", "run", *options, stdout=subprocess.PIPE, stderr=log
        )
        if not self.controller.stdout.readline():
            sys.exit((self.folder / "controller.log").read_text())
        for switch in SWITCHES:
            order = f"set-controller {switch} tcp:127.0.0.1:6653 -- set controller {switch} max_backoff=1000"
            self.lab("exec", self.name, "--", "ovs-vsctl", *order.split(), "connection_mode=out-of-band")

    def stop_controller(self):
        self.controller.kill()
        self.controller.wait()

    def api(self, resource):
        answer = self.inside(None, self.braid, resource, "--json").stdout
        return json.loads(answer)[resource]

    def find_hosts(self):
        """Waits until the network is known, and lets both hosts be seen."""
        links = 2 * sum("sw" in line.split("]")[0].split(",")[0] for line in self.scenario.read_text().splitlines()
                        if "between: [" in line)
        wait_until("all links are known", lambda: len(self.api("links")) == links)
        wait_until("the hosts see each other", lambda: self.inside(
            "hosta", "ping", "-c", "1", "-W", "1", ADDRESS["hostb"], check=False).returncode == 0)
        wait_until("delays are measured", lambda: all(link["delay_us"] for link in self.api("links")))
        time.sleep(3)

    def start_server(self, address=ADDRESS["hostb"], port=SERVER_PORT, users=ANONYMOUS, **environment):
        """A GridFTP server, unmodified, for anonymous users or others; data comes to the same address."""
        environment = {**os.environ, **environment}
        arguments = ["-p", str(port), *users, "-home-dir", "/", "-no-chdir", "-data-interface", address]
        command = ["globus-gridftp-server", *arguments]
        self.server = self.start("hostb", *command, env=environment, stderr=subprocess.DEVNULL)
        listens = lambda: self.inside(
            "hosta", "bash", "-c", f": < /dev/tcp/{address}/{port}", check=False).returncode == 0
        wait_until("the GridFTP server listens", listens)

    def stop_server(self):
        """Ends the server that was started last, with its port."""
        self.server.terminate()
        self.server.wait()

    def assign(self, paths, streams=None):
        """As in the paper: asks for paths with assign_mpath; the assignment's id and the number of paths."""
        mac = self.inside("hosta", "cat", "/sys/class/net/eth0/address").stdout.strip()
        known = [self.controller_address("hosta"), str(HTTP), ADDRESS["hosta"], mac, ADDRESS["hostb"], str(paths)]
        expected = [str(streams)] if streams else []
        identity, count = self.inside("hosta", self.tools / "assign_mpath", *known, *expected).stdout.split()
        return identity, int(count)

    def post(self, path, body):
        """A request to the API, from where the controller is."""
        url = f"http://127.0.0.1:{HTTP}{path}"
        code = ("import sys, urllib.request as u; "
                "print(u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), method='POST')).read().decode())")
        return json.loads(self.inside(None, sys.executable, "-c", code, url, json.dumps(body)).stdout)

    def hook(self, host, **more):
        """The environment in which connections are announced."""
        controller = f"{self.controller_address(host)}:{HTTP}"
        return {"LD_PRELOAD": str(self.tools / "libmpath.so"), "MPATH_CONTROLLER": controller, **more}

    def make_file(self, name, size):
        path = self.folder / name
        with open("/dev/urandom", "rb") as random, open(path, "wb") as file:
            for _ in range(size // 1_000_000):
                file.write(random.read(1_000_000))
        path.chmod(0o644)
        return path

    def copy(self, source, target, streams, environment=None, **options):
        """Runs globus-url-copy on hosta; the seconds that it took and what it said."""
        begin = time.monotonic()
        options = {"env": {**os.environ, **(environment or {})}, **options}
        done = self.inside("hosta", "globus-url-copy", "-p", str(streams), source, target, check=False, **options)
        if done.returncode != 0:
            sys.exit(f"globus-url-copy failed: {done.stdout}{done.stderr}")
        return time.monotonic() - begin, done.stderr

    def url(self, path, address=ADDRESS["hostb"], port=SERVER_PORT):
        return f"ftp://{address}:{port}{path}"

    def direct_url(self, path):
        """The same over a link between the hosts past all switches, with a server of its own."""
        if not self.is_connected:
            here, there = ("hosta", "198.51.100.1"), ("hostb", "198.51.100.2")
            ends = ["ip", "link", "add", "direct", "netns", self.namespace("hosta"), "type", "veth"]
            subprocess.run([*ends, "peer", "name", "direct", "netns", self.namespace("hostb")], check=True)
            for host, address in [here, there]:
                self.inside(host, "ip", "address", "add", f"{address}/30", "dev", "direct")
                self.inside(host, "ip", "link", "set", "direct", "up")
            self.start_server(there[1], SERVER_PORT + 1)
            self.is_connected = True
        return self.url(path, "198.51.100.2", SERVER_PORT + 1)


def same(one, other):
    return subprocess.run(["cmp", "-s", one, other], check=False).returncode == 0


def wait_until(what, done, patience=40):
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            sys.exit(f"still not so after {patience} s: {what}")
        time.sleep(0.2)
