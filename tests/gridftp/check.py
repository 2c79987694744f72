#!/usr/bin/env python3
"""Real GridFTP over many paths: `check.py BRAID TOOLS`, with the braid command and the folder of assign_mpath and libmpath.so.

Copies files over topology A of Huang et al. (2017) with an assignment, without one, from the server, with certificates, without
a controller, and with one that dies, and ends with 1 if a file differs or connections are not where they should be. Copies with
an assignment are the commands of docs/gridftp.md.
"""

import functools
import json
import re
import subprocess
import sys
import threading
import time

from testbed import HTTP, TOP, Testbed, same, wait_until

MEGABYTE = 1_000_000
failures = []


def expect(what, is_so, seen=""):
    print(f"{'ok' if is_so else 'FAILED'}: {what}{f' ({seen})' if seen != '' else ''}", flush=True)
    if not is_so:
        failures.append(what)


def watch(bed, seen, done):
    """Notes the paths of parallel streams while a copy runs."""
    while not done.is_set():
        for transfer in bed.api("transfers"):
            for stream in transfer["streams"]:
                seen[(stream["src_port"], stream["dst_port"])] = (transfer["kind"], tuple(stream["path"]))
        done.wait(0.3)


def copy_watched(bed, *arguments, **options):
    seen, done = {}, threading.Event()
    watcher = threading.Thread(target=watch, args=(bed, seen, done))
    watcher.start()
    try:
        result = bed.copy(*arguments, **options)
    finally:
        done.set()
        watcher.join()
    return result, seen


@functools.cache
def documented(scheme):
    """How many streams docs/gridftp.md copies with, and the URL to which, where it uses this scheme."""
    page = (TOP / "docs/gridftp.md").read_text()
    command = rf"^\S*\$ MPATH_ASSIGNMENT_ID=\w+ globus-url-copy -p (\d+) file:///data/big ({scheme}://hostb\S*)/data/big$"
    found = re.findall(command, page, re.MULTILINE)
    expect(f"docs/gridftp.md has one copy by {scheme}://", len(found) == 1, found)
    return int(found[0][0]), found[0][1]


def copy_as_documented(bed, scheme, source, target, identity, **options):
    """What the copy said, its seconds, and the paths of its connections."""
    streams, url = documented(scheme)
    environment = bed.hook("hosta", MPATH_ASSIGNMENT_ID=identity, **options)
    (seconds, errors), seen = copy_watched(bed, f"file://{source}", f"{url}{target}", streams, environment)
    return errors, seconds, [path for kind, path in seen.values() if kind == "parallel"]


def check_upload(bed, source):
    identity, count = bed.assign(4, 4)
    expect("four paths are set aside", count == 4, count)
    expect("a fifth one is not there", bed.assign(5)[1] == 4)
    target = bed.folder / "uploaded"
    errors, seconds, seen = copy_as_documented(bed, "ftp", source, target, identity)
    paths = set(seen)
    expect("the copy is identical", same(source, target))
    expect("four connections are on four paths", len(seen) == 4 and len(paths) == 4, f"{seconds:.1f} s")
    expect("the hook has nothing to complain about", "mpath" not in errors, errors)
    wait_until("ended connections are forgotten", lambda: not bed.api("transfers"), 10)
    alone, seen = copy_watched(bed, f"file://{source}", bed.url(bed.folder / "alone"), 4)
    expect("without an assignment they are like all others", not seen and same(source, bed.folder / "alone"), f"{alone[0]:.1f} s")


def check_download(bed, source):
    target = bed.folder / "downloaded"
    (seconds, _), seen = copy_watched(bed, bed.url(source), f"file://{target}", 4)
    paths = {path for kind, path in seen.values() if kind == "parallel"}
    expect("what the server sends is identical", same(source, target))
    expect("the server's connections are on four paths", len(paths) == 4, f"{seconds:.1f} s, {seen}")


def check_gsiftp(bed, source):
    """Certificates as docs/gridftp.md makes them; without any the server refuses."""
    target, folder = bed.folder / "trusted", bed.folder / "gsi"
    url = documented("gsiftp")[1]
    refused = bed.inside("hosta", "globus-url-copy", f"file://{source}", f"{url}{target}", check=False)
    reason = next((line for line in refused.stderr.splitlines() if line.startswith("530 ")), refused.stderr)
    expect("gsiftp:// without certificates is refused", refused.returncode != 0 and "credential failure" in reason, reason)
    subprocess.run([TOP / "integrations/gridftp/certificates", folder, "hostb", "nobody"], check=True)
    bed.stop_server()
    bed.start_server(users=(), **variables(folder / "server"))
    identity, _ = bed.assign(4, 4)
    errors, seconds, paths = copy_as_documented(bed, "gsiftp", source, target, identity, **variables(folder / "client"))
    expect("with certificates the copy is identical", same(source, target) and "mpath" not in errors, errors)
    expect("its four connections are on four paths", len(paths) == 4 and len(set(paths)) == 4, f"{seconds:.1f} s, {paths}")


def variables(file):
    """What a file sets for a shell."""
    return dict(word.split("=", 1) for word in file.read_text().split() if "=" in word)


def check_xml_rpc(bed):
    """The two calls from Python's own client, and what is wrong told as a fault."""
    code = f"""
import xmlrpc.client
controller = xmlrpc.client.ServerProxy("http://127.0.0.1:{HTTP}/RPC2")
made = controller.AssignMultipath("10.0.0.1", "02:00:00:00:00:01", "10.0.0.2", 3)
path = controller.MakePath(made["id"], "10.0.0.1", 40000, "10.0.0.2", 50000)
assert made["paths"] == 3 and len(path["switches"]) == 3, (made, path)
controller.EndPath(made["id"], "10.0.0.1", 40000, "10.0.0.2", 50000)
for call in [lambda: controller.MakePath("0" * 16, "10.0.0.1", 1, "10.0.0.2", 2), lambda: controller.MakePath(),
             lambda: controller.AssignMultipath("10.0.0.1", "02:00:00:00:00:01", "10.9.9.9", 3)]:
    try:
        call()
    except xmlrpc.client.Fault as fault:
        print(fault.faultCode)
"""
    done = bed.inside(None, sys.executable, "-c", code, check=False)
    expect("Python's own client works", done.stdout.split() == ["-32500", "-32602", "-32500"], done.stdout + done.stderr)


def check_run(bed):
    """Any program's connections, under braid run."""
    bed.start("hostb", "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
    time.sleep(1)
    controller = f"http://{bed.controller_address('hosta')}:{HTTP}"
    done = bed.inside("hosta", bed.braid, "run", "--paths", "4", "--json", "--controller", controller, "--",
                      "iperf3", "-c", "10.0.0.2", "-P", "4", "-t", "4", check=False)
    summary = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    paths = [path for row in summary for path in row["paths"] if path["bytes_sent"] > MEGABYTE]
    expect("four connections of iperf3 are on four paths", done.returncode == 0 and len(paths) == 4, done.stderr.strip())
    expect("what was set aside is given back", not bed.api("transfers"))


def check_controller_that_dies(bed, source):
    identity, _ = bed.assign(4, 4)
    target, environment = bed.folder / "orphaned", bed.hook("hosta", MPATH_ASSIGNMENT_ID=identity)
    killer = threading.Timer(1.5, bed.stop_controller)
    killer.start()
    seconds, _ = bed.copy(f"file://{source}", bed.url(target), 4, environment)
    killer.join()
    expect("a copy goes on when its controller dies", same(source, target), f"{seconds:.1f} s")


def check_without_controller(bed):
    """Between hosts with a link of their own, since in the network what is new waits for a controller."""
    for what, environment in [("an id", {"MPATH_ASSIGNMENT_ID": "0" * 16}), ("a number of paths", {"MPATH_PATHS": "4"})]:
        source, target = bed.make_file("small", 2 * MEGABYTE), bed.folder / f"plain-{len(what)}"
        environment = bed.hook("hosta", MPATH_EXCEPT="2812", **environment)
        _, errors = bed.copy(f"file://{source}", bed.direct_url(target), 4, environment)
        expect(f"with {what} and without a controller a copy is plain GridFTP, and one warning",
               same(source, target) and errors.count("mpath:") == 1, errors.strip())


def check_silent_controller(bed):
    """One that takes connections and never answers costs its patience once, and no copy."""
    silent = bed.start("hosta", sys.executable, "-c", SILENT)
    time.sleep(1)
    source, target = bed.make_file("small", 2 * MEGABYTE), bed.folder / "patient"
    environment = bed.hook("hosta", MPATH_ASSIGNMENT_ID="0" * 16, MPATH_EXCEPT="2812") | {"MPATH_CONTROLLER": "127.0.0.1:8699"}
    seconds, errors = bed.copy(f"file://{source}", bed.direct_url(target), 4, environment)
    silent.kill()
    expect("a controller that does not answer costs one warning and no byte",
           same(source, target) and errors.count("mpath:") == 1, f"{seconds:.1f} s {errors.strip()}")


SILENT = """
import socket, time
listener = socket.create_server(("127.0.0.1", 8699))
taken = []
while True:
    taken.append(listener.accept())
"""


def check_refusals(bed):
    """What an application may not do or have, over REST and XML-RPC."""
    code = f"""
import json, urllib.error, urllib.request, xmlrpc.client
HTTP = "http://127.0.0.1:{HTTP}"
CONNECTION = dict(src="10.0.0.1", src_port=41000, dst="10.0.0.2", dst_port=50000)
def send(method, path, **body):
    request = urllib.request.Request(HTTP + "/api/v1/assignments" + path, json.dumps(body).encode(), method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
pair = dict(src="10.0.0.1", dst="10.0.0.2")
status, made = send("POST", "", paths=9, owner="alice", lease_seconds=2, **pair)
id = made["assignment"]["id"]
print("fewer", status, len(made["assignment"]["paths"]), made["warnings"])
print("foreign", send("POST", f"/{{id}}/streams", owner="bob", **CONNECTION)[0], send("DELETE", f"/{{id}}", owner="bob")[0])
try:
    xmlrpc.client.ServerProxy(HTTP + "/RPC2").MakePath(id, "10.0.0.1", 41000, "10.0.0.2", 50000, "bob")
except xmlrpc.client.Fault as fault:
    print("fault", fault.faultCode, fault.faultString)
import time
time.sleep(3)
print("expired", send("POST", f"/{{id}}/streams", owner="alice", **CONNECTION)[0])
print("nobody", send("POST", "", paths=2, src="10.0.0.1", dst="10.9.9.9")[0])
"""
    done = bed.inside(None, sys.executable, "-c", code, check=False)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    said = done.stdout + done.stderr
    expect("of more paths than there are, those that there are, and it says so",
           lines.get("fewer", "").startswith("201 4 ['of 9 paths, 4 "), lines.get("fewer", said))
    expect("another's assignment is refused", lines.get("foreign") == "403 403" and
           lines.get("fault", "").startswith("-32500 assignment ") and "not yours" in lines["fault"], lines.get("fault", said))
    expect("an expired assignment is unknown", lines.get("expired") == "404", lines.get("expired", said))
    expect("a host that is not there has no paths", lines.get("nobody") == "404", lines.get("nobody", said))


def check_warning(bed):
    """Each data connection is announced in vain, and the user gets one warning."""
    identity = "0" * 16
    source, target = bed.make_file("warned", 2 * MEGABYTE), bed.folder / "warned-copy"
    _, errors = bed.copy(f"file://{source}", bed.url(target), 4, bed.hook("hosta", MPATH_ASSIGNMENT_ID=identity))
    expect("an unknown assignment costs one warning and no byte", same(source, target) and errors.count("mpath:") == 1, errors.strip())


def main():
    braid, tools = sys.argv[1:3]
    with Testbed(braid, tools, "huang-a.yaml", "gridftp-check") as bed:
        bed.start_server(**bed.hook("hostb", MPATH_PATHS="4"))
        source = bed.make_file("source", 100 * MEGABYTE)
        check_upload(bed, source)
        check_download(bed, source)
        check_xml_rpc(bed)
        check_refusals(bed)
        check_warning(bed)
        check_run(bed)
        check_gsiftp(bed, source)
        bed.stop_server()
        bed.start_server()
        check_controller_that_dies(bed, source)
        check_without_controller(bed)
        check_silent_controller(bed)
    sys.exit(f"{len(failures)} failed" if failures else 0)


if __name__ == "__main__":
    main()
