#!/usr/bin/python3
"""How the cost of a network grows with its size: emulated FatTrees come up one after the other, each with a controller of its own.

    curves.py [--braid PROGRAM] [--sizes 8 16 24 32 48 64] [--limit SECONDS] [--hold SECONDS] [--json FILE] [--svg FILE]

Prints a table: time to the whole map, discovery frames until then, memory, and cores at rest. --json keeps every figure, and
--svg draws them over the number of links, with what linear growth from the first size would be. Exit code 5 if a map was not
complete, a link was lost, an alarm was raised or a connection closed. Needs a quiet machine; two sockets a switch.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import discovery

# What is drawn: a title, the figure in a report, and its text.
PANELS = [
    ("time to the whole map", lambda it: it["complete_after"], lambda value: f"{value:.2g} s"),
    ("discovery frames until then", lambda it: frames(it), lambda value: f"{value:,.0f}"),
    ("memory of the controller", lambda it: it["peak_memory"] / 1e6, lambda value: f"{value:,.0f} MB"),
    ("cores at rest", lambda it: it["rest"]["cores"], lambda value: f"{value:.2f}"),
]


def frames(report):
    return report["mapping"]["frames_per_second"] * report["mapping"]["seconds"]


def measure(args, size):
    """What came of a FatTree of a size."""
    with open(args.log or os.devnull, "a", encoding="utf-8") as log:
        controller, addresses = discovery.start(args.braid, log)
        command = [
            args.braid, "openflow", "load", "discovery", "--topology", f"fattree:{size}", "--silent-hosts", "--json",
            "--openflow", addresses["openflow"], "--api", f"http://{addresses['http']}", "--pid", str(controller.pid),
            "--limit", str(args.limit), "--hold", str(args.hold),
        ]
        try:
            return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        finally:
            discovery.stop(controller)


def row(size, report):
    figures = [text(value(report)) if report["complete_after"] else "-" for _, value, text in PANELS]
    lost = f"{report['lost_links']}, {report['alarms']}, {report['closures']}"
    return f"| {size} | {report['switches']:,} | {report['directed_links']:,} | " + " | ".join(figures) + f" | {lost} |"


def table(found):
    print("| k | switches | directed links | " + " | ".join(title for title, _, _ in PANELS) + " | links lost, alarms, closures |")
    print("|---" * (len(PANELS) + 4) + "|")
    for it in found:
        print(row(it["size"], it["report"]))


WIDTH, HEIGHT, MARGIN = 300, 190, 46
STYLE = """
svg { font: 12px system-ui, sans-serif; color-scheme: light dark; }
text { fill: #333; } .title { font-weight: 600; } .axis { stroke: #bbb; } .linear { stroke: #bbb; stroke-dasharray: 4 4; fill: none; }
.line { stroke: #0b6e99; stroke-width: 2; fill: none; } .point { fill: #0b6e99; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .axis, .linear { stroke: #666; } .line { stroke: #6cc3e8; } .point { fill: #6cc3e8; } }
"""


class Panel:
    """One figure over the number of links, both logarithmic."""

    def __init__(self, points):
        self.points = points
        (x0, y0), (x1, _) = points[0], points[-1]
        self.linear = [(x0, y0), (x1, y0 * x1 / x0)]
        shown = points + self.linear
        self.low = [min(it[axis] for it in shown) for axis in (0, 1)]
        self.high = [max(it[axis] for it in shown) for axis in (0, 1)]

    def place(self, point):
        share = [
            math.log(value / low) / (math.log(high / low) or 1.0)
            for value, low, high in zip(point, self.low, self.high, strict=True)
        ]
        return MARGIN + share[0] * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - share[1] * (HEIGHT - 2 * MARGIN)

    def path(self, points):
        return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in map(self.place, points))

    def draw(self, title, text):
        bottom = HEIGHT - MARGIN + 8
        parts = [
            f'<text class="title" x="{MARGIN}" y="18">{title}</text>',
            f'<path class="axis" d="M{MARGIN} {bottom}H{WIDTH - MARGIN}"/>',
            f'<path class="linear" d="{self.path(self.linear)}"/>',
            f'<path class="line" d="{self.path(self.points)}"/>',
        ]
        for point in self.points:
            x, y = self.place(point)
            parts.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        for point, anchor, lift in ((self.points[0], "start", 16), (self.points[-1], "end", 9)):
            x, y = self.place(point)
            parts.append(f'<text x="{x:.1f}" y="{y - lift:.1f}" text-anchor="{anchor}">{text(point[1])}</text>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="{anchor}">{point[0]:,} links</text>')
        return "".join(parts)


def drawing(found):
    """The panels side by side, two in a row."""
    reports = [it["report"] for it in found if it["report"]["complete_after"]]
    panels = []
    for number, (title, value, text) in enumerate(PANELS):
        panel = Panel([(it["directed_links"], max(value(it), 1e-3)) for it in reports])
        x, y = number % 2 * WIDTH, number // 2 * HEIGHT
        panels.append(f'<g transform="translate({x} {y})">{panel.draw(title, text)}</g>')
    size = f'viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}"'
    title = "<title>Cost of FatTrees over their links; dashed: linear growth from the smallest</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{STYLE}</style>{"".join(panels)}</svg>\n'


def is_well(report):
    return report["complete_after"] and not report["lost_links"] + report["alarms"] + report["closures"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--braid", default="target/release/braid")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 24, 32, 48, 64], help="the k of each FatTree")
    parser.add_argument("--limit", type=int, default=180, help="seconds until every link must be known")
    parser.add_argument("--hold", type=int, default=20, help="seconds at rest")
    parser.add_argument("--json", help="a file for every figure")
    parser.add_argument("--svg", help="a file for the curves")
    parser.add_argument("--log", help="where the controllers' logs go; to nowhere if it is not said")
    args = parser.parse_args()
    discovery.stop_in_order()
    found = [{"size": size, **measure(args, size)} for size in args.sizes]
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if args.svg:
        Path(args.svg).write_text(drawing(found), encoding="utf-8")
    table(found)
    return 0 if all(is_well(it["report"]) for it in found) else discovery.UNMET


if __name__ == "__main__":
    sys.exit(main())
