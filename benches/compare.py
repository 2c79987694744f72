"""Compares Braid's path sets with those of other libraries, and prints a table.

Every library gets the network as it likes it best, once, before the clock starts: no capacities where they do not
matter, integers instead of names, and the directed graph of switches alone. Braid's figures are those of the
`path_sets` benchmark: paths with the port of every link. The others answer with switches, which is less, since there are
no parallel links here. Nothing is cached between calls on any side.

| question        | NetworkX                            | igraph                   | rustworkx                       |
|-----------------|-------------------------------------|--------------------------|---------------------------------|
| shortest        | shortest_path                       | get_shortest_path        | digraph_dijkstra_shortest_paths |
| all-shortest    | all_shortest_paths                  | get_all_shortest_paths   | digraph_all_shortest_paths      |
| k-shortest-8    | shortest_simple_paths, the first 8  | get_k_shortest_paths     | tells the lengths only          |
| disjoint-8      | edge_disjoint_paths, cutoff=8, with | counts only              | none                            |
|                 | auxiliary and residual prepared, or |                          |                                 |
|                 | (unprepared) without                |                          |                                 |
| node-disjoint-8 | node_disjoint_paths, likewise       | counts only              | none                            |
| max-flow        | maximum_flow: value and flow        | maxflow: value, flow and | none                            |
|                 |                                     | cut                      |                                 |

Braid's disjoint paths are of least total cost, theirs are any; Braid's maximum flow comes with the paths that it is made
of, theirs with the flow of each link. Widest paths and the paths of up to 6 links in order have no counterpart.

Theirs include what Python takes for a call, some 50 ns, and for making lists of the result, as whoever uses them has it.

A figure is the time of a question, averaged over the 256 pairs; of several passes the median. A pass that takes too long
ends early, and says how many pairs it is of.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import igraph
import networkx as nx
import rustworkx as rx
from networkx.algorithms.connectivity import (
    build_auxiliary_edge_connectivity,
    build_auxiliary_node_connectivity,
)
from networkx.algorithms.flow import build_residual_network

NETWORKS = ["fattree-8", "fattree-16", "jellyfish-60", "jellyfish-1000"]
QUESTIONS = [
    "shortest",
    "all-shortest",
    "k-shortest-8",
    "disjoint-8",
    "node-disjoint-8",
    "max-flow",
    "widest",
    "within-6-hops-64",
]
PAIRS = 256
SEED = 1
# Pairs whose answers are compared.
CHECKED = 16
# Seconds after which no new pass begins, and after which a pass ends.
ENOUGH, TOO_LONG = 1.0, 20.0
MASK = (1 << 64) - 1


def split_mix(state):
    """Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014; as in the benchmark."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        yield mixed ^ (mixed >> 31)


class Network:
    """The switches of one network in the form of every library. Switches are 0, 1, … by datapath id."""

    def __init__(self, file):
        document = json.loads(file.read_text())
        switches = [node for node in document["nodes"] if node["type"] == "switch"]
        switches.sort(key=lambda node: int(node["dpid"], 16))
        self.names = [node["id"] for node in switches]
        index = {name: place for place, name in enumerate(self.names)}
        ends = [(link["source"], link["target"]) for link in document["links"]]
        self.edge = sorted({index[b] for a, b in ends if a not in index})
        links = [(index[a], index[b]) for a, b in ends if a in index and b in index]
        assert len(links) == len(set(links)), "parallel links are told apart by Braid only"
        capacities = {link["capacity"] for link in document["links"]}
        assert len(capacities) == 1, "capacities of this benchmark are all the same"
        self.capacity = capacities.pop()
        self.load(links)

    def load(self, links):
        self.plain = nx.DiGraph(links)
        self.capacitated = nx.DiGraph()
        self.capacitated.add_edges_from(links, capacity=self.capacity)
        self.igraph = igraph.Graph(n=len(self.names), edges=links, directed=True)
        self.capacities = [self.capacity] * len(links)
        self.rustworkx = rx.PyDiGraph()
        self.rustworkx.add_nodes_from(self.names)
        self.rustworkx.add_edges_from_no_data(links)
        self.cut = build_auxiliary_edge_connectivity(self.plain)
        self.cut_residual = build_residual_network(self.cut, "capacity")
        self.split = build_auxiliary_node_connectivity(self.plain)
        self.split_residual = build_residual_network(self.split, "capacity")

    def pairs(self):
        numbers = split_mix(SEED)
        count = len(self.edge)
        for _ in range(PAIRS):
            start = next(numbers) % count
            end = (start + 1 + next(numbers) % (count - 1)) % count
            yield self.edge[start], self.edge[end]


def contenders(net):
    """By question: (library, function of two switches)."""
    plain, graph, other = net.plain, net.igraph, net.rustworkx
    edges = {"auxiliary": net.cut, "residual": net.cut_residual}
    nodes = {"auxiliary": net.split, "residual": net.split_residual}
    return {
        "shortest": [
            ("NetworkX", lambda a, b: nx.shortest_path(plain, a, b)),
            ("igraph", lambda a, b: graph.get_shortest_path(a, b)),
            ("rustworkx", lambda a, b: rx.digraph_dijkstra_shortest_paths(other, a, target=b)),
        ],
        "all-shortest": [
            ("NetworkX", lambda a, b: list(nx.all_shortest_paths(plain, a, b))),
            ("igraph", lambda a, b: graph.get_all_shortest_paths(a, b)),
            ("rustworkx", lambda a, b: rx.digraph_all_shortest_paths(other, a, b)),
        ],
        "k-shortest-8": [
            ("NetworkX", lambda a, b: list(islice(nx.shortest_simple_paths(plain, a, b), 8))),
            ("igraph", lambda a, b: graph.get_k_shortest_paths(a, b, k=8)),
        ],
        "disjoint-8": [
            ("NetworkX", lambda a, b: list(nx.edge_disjoint_paths(plain, a, b, cutoff=8, **edges))),
            ("NetworkX, unprepared", lambda a, b: list(nx.edge_disjoint_paths(plain, a, b, cutoff=8))),
        ],
        "node-disjoint-8": [
            ("NetworkX", lambda a, b: list(nx.node_disjoint_paths(plain, a, b, cutoff=8, **nodes))),
        ],
        "max-flow": [
            ("NetworkX", lambda a, b: nx.maximum_flow(net.capacitated, a, b)),
            ("igraph", lambda a, b: graph.maxflow(a, b, net.capacities)),
        ],
        "widest": [],
        "within-6-hops-64": [],
    }


def measure(function, pairs):
    """Seconds a question, and how many pairs that is of."""
    passes, started = [], time.perf_counter()
    while True:
        taken = one_pass(function, pairs)
        passes.append(statistics.mean(taken))
        if len(taken) < len(pairs) or time.perf_counter() - started > ENOUGH:
            return statistics.median(passes), len(taken)


def one_pass(function, pairs):
    taken = []
    for a, b in pairs:
        before = time.perf_counter()
        function(a, b)
        taken.append(time.perf_counter() - before)
        if sum(taken) > TOO_LONG:
            break
    return taken


def ours(criterion, network, question):
    estimates = criterion / network / question / "new" / "estimates.json"
    return json.loads(estimates.read_text())["median"]["point_estimate"] / 1e9


class Checker:
    """Compares answers; what differs ends the run."""

    MODES = {
        "shortest": ["shortest", "-k", "1"],
        "all-shortest": ["shortest", "-k", "4096"],
        "k-shortest-8": ["ksp", "-k", "8"],
        "disjoint-8": ["disjoint", "-k", "8"],
        "node-disjoint-8": ["node-disjoint", "-k", "8"],
        "max-flow": ["maxflow", "-k", "4096"],
    }

    def __init__(self, braid, file, net):
        self.braid, self.file, self.net = braid, file, net

    def check(self, question, library, function, pair):
        answer = self.ask(question, pair)
        theirs = function(*pair)
        if question == "max-flow":
            value = theirs.value if library == "igraph" else theirs[0]
            same = answer["max_flow_bps"] == value == sum(path["rate_bps"] for path in answer["paths"])
        else:
            # A single path comes as the list of its switches.
            theirs = [theirs] if library != "rustworkx" and question == "shortest" else theirs
            theirs = [theirs[pair[1]]] if library == "rustworkx" and question == "shortest" else theirs
            hops = sorted(path["hops"] for path in answer["paths"])
            others = sorted(len(path) - 1 for path in theirs)
            same = self.agree(question, hops, others)
        if not same:
            names = [self.net.names[end] for end in pair]
            sys.exit(f"{self.file.stem}, {question}, {names}: Braid and {library} differ")

    @staticmethod
    def agree(question, hops, others):
        if question in ("disjoint-8", "node-disjoint-8"):
            return len(hops) == len(others) and sum(hops) <= sum(others)
        return hops == others

    def ask(self, question, pair):
        ends = [self.net.names[end] for end in pair]
        command = [self.braid, "paths", *ends, "--json", "--mode", *self.MODES[question]]
        with self.file.open() as network:
            done = subprocess.run([*command, "--topology", "-"], stdin=network, capture_output=True, check=True)
        return json.loads(done.stdout)


def text(seconds):
    for unit, scale in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]:
        if seconds >= scale:
            value = seconds / scale
            return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def row(network, question, mine, times):
    best = min((seconds for seconds, _ in times.values()), default=None)
    cells = []
    for library in ["NetworkX", "igraph", "rustworkx"]:
        found = [(name, *times[name]) for name in times if name.split(",")[0] == library]
        cells.append("; ".join(cell(*entry) for entry in found) or "-")
    ratio = "-" if best is None else times_as_long(best / mine)
    return f"| {question} | {network} | {text(mine)} | {' | '.join(cells)} | {ratio} |"


def times_as_long(ratio):
    return f"{ratio:.1f} x" if ratio < 10 else f"{ratio:.0f} x"


def cell(name, seconds, pairs):
    notes = [note for note in [name.partition(", ")[2], "" if pairs == PAIRS else f"{pairs} pairs"] if note]
    return text(seconds) + (f" ({', '.join(notes)})" if notes else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["--braid", "--criterion", "--networks"]:
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    rows = {}
    for network in NETWORKS:
        file = arguments.networks / f"{network}.json"
        net = Network(file)
        pairs = list(net.pairs())
        checker = Checker(arguments.braid, file, net)
        for question, candidates in contenders(net).items():
            print(f"{network}: {question}", file=sys.stderr)
            for library, function in candidates:
                for pair in pairs[:CHECKED]:
                    checker.check(question, library, function, pair)
            times = {library: measure(function, pairs) for library, function in candidates}
            rows[question, network] = row(network, question, ours(arguments.criterion, network, question), times)
    print("| question | network | Braid | NetworkX | igraph | rustworkx | next best : Braid |")
    print("|---|---|---|---|---|---|---|")
    for question in QUESTIONS:
        for network in NETWORKS:
            print(rows[question, network])


if __name__ == "__main__":
    main()
