#!/usr/bin/python3
"""Writes a Mininet topology as node-link JSON, which `braid topology`, `braid sim` and `braid lab deploy` read.

    tests/mininet/export.py --topo torus,3,3 >torus.json
    tests/mininet/export.py --custom FILE.py --topo NAME[,ARGUMENT...]

Options are those of `mn`. FILE.py is executed: it is a program. Needs Debian's mininet, no root.
"""

import argparse
import json
import sys

try:
    from mininet.topo import LinearTopo, SingleSwitchTopo
    from mininet.topolib import TorusTopo, TreeTopo
    from mininet.util import buildTopo
except ImportError as missing:
    print(f"export.py: {missing}: install Debian's mininet and start this with /usr/bin/python3", file=sys.stderr)
    sys.exit(4)

TOPOLOGIES = {"linear": LinearTopo, "single": SingleSwitchTopo, "torus": TorusTopo, "tree": TreeTopo}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--custom", metavar="FILE.py", help="a file whose `topos` names topologies")
    parser.add_argument("--topo", required=True, help="as mn takes it: torus,X,Y tree,DEPTH,FANOUT linear,N, or one of FILE.py")
    args = parser.parse_args()
    topologies = TOPOLOGIES | (custom(args.custom) if args.custom else {})
    if args.topo.split(",")[0] not in topologies:
        parser.error(f"there is no topology {args.topo!r}: there are {', '.join(sorted(topologies))}")
    json.dump(node_link(buildTopo(topologies, args.topo), args.topo), sys.stdout, indent=1)
    print()


def custom(path):
    names = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    if not isinstance(names.get("topos"), dict):
        sys.exit(f"export.py: {path} defines no `topos`, a dict from names to topologies, as mn --custom wants it")
    return names["topos"]


def node_link(topo, name):
    nodes = [switch(topo, it) for it in topo.switches()] + [{"id": it, "type": "host"} for it in topo.hosts()]
    links = [link(a, b, options) for a, b, options in topo.links(sort=True, withInfo=True)]
    return {"directed": False, "multigraph": True, "graph": {"name": name}, "nodes": nodes, "links": links}


def switch(topo, name):
    """As Mininet does: without a datapath id, the first number in the name."""
    dpid = topo.nodeInfo(name).get("dpid")
    digits = "".join(it if it.isdigit() else " " for it in name).split()
    given = dpid.replace(":", "") if dpid else f"{int(digits[0]):x}" if digits else None
    return {"id": name} | ({"dpid": given} if given else {})


def link(a, b, options):
    """Mininet's rates are in Mbit/s; a delay without a unit is in microseconds, as tc takes it."""
    capacity = {"capacity": round(options["bw"] * 1e6)} if options.get("bw") is not None else {}
    delay = str(options.get("delay") or "")
    delay = {"delay": f"{delay}us" if delay.isdigit() else delay} if delay else {}
    return {"source": a, "target": b, **capacity, **delay}


if __name__ == "__main__":
    main()
