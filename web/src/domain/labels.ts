/** Where labels stand, so that none covers another. */
import type { Point } from "./layout";

export interface Labelled {
  key: string;
  text: string;
  at: Point;
  /** How far the label stands from the middle. */
  radius: number;
  size: number;
}
export interface Label extends Point {
  anchor: "start" | "middle" | "end";
  /** Whether it has room of its own; else it is shown only while it is pointed at. */
  free: boolean;
}
interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
export interface Segment {
  from: Point;
  to: Point;
}

/** The mean width of a character by its height. */
const CHARACTER = 0.6;
const CROSSED = 1;
const COVERED = 100;

/** The first items get their place first; `others` are not covered either. O(items · (items + lines)). */
export function labels(items: readonly Labelled[], lines: readonly Segment[], paper: { width: number; height: number }, others: readonly (Point & { radius: number })[] = []): Map<string, Label> {
  const body = ({ x, y }: Point, radius: number) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  const bodies = [...items.map((it) => body(it.at, it.radius)), ...others.map((it) => body(it, it.radius))];
  const taken: Box[] = [];
  const found = new Map<string, Label>();
  for (const [own, item] of items.entries()) {
    let [best, least] = [candidates(item)[0] as Candidate, Infinity];
    for (const candidate of candidates(item)) {
      const blocked = taken.some((it) => overlap(it, candidate.box)) || bodies.some((it, at) => at !== own && overlap(it, candidate.box));
      const { left, right, top, bottom } = candidate.box;
      const outside = left < 0 || top < 0 || right > paper.width || bottom > paper.height;
      const cost = (blocked || outside ? COVERED : 0) + lines.filter((it) => crosses(it, candidate.box)).length * CROSSED + candidate.cost;
      if (cost < least) [best, least] = [candidate, cost];
    }
    const free = least < COVERED;
    if (free) taken.push(best.box);
    found.set(item.key, { x: best.x, y: best.y, anchor: best.anchor, free });
  }
  return found;
}

interface Candidate extends Point {
  anchor: Label["anchor"];
  box: Box;
  cost: number;
}

function candidates({ at, radius, text, size }: Labelled): Candidate[] {
  const [wide, gap] = [text.length * size * CHARACTER + 4, radius + 3];
  const middle = (y: number, cost: number): Candidate => ({
    x: at.x, y, anchor: "middle", cost, box: { left: at.x - wide / 2, right: at.x + wide / 2, top: y - size * 0.85, bottom: y + size * 0.25 },
  });
  const y = at.y + size * 0.35;
  const beside = { top: y - size * 0.85, bottom: y + size * 0.25 };
  return [
    middle(at.y - gap - size * 0.15, 0),
    middle(at.y + gap + size * 0.8, 0.1),
    { x: at.x + gap, y, anchor: "start", cost: 0.2, box: { left: at.x + gap, right: at.x + gap + wide, ...beside } },
    { x: at.x - gap, y, anchor: "end", cost: 0.3, box: { left: at.x - gap - wide, right: at.x - gap, ...beside } },
    ...[at.y - gap - size * 0.15, at.y + gap + size * 0.8].flatMap((y): Candidate[] => {
      const box = { top: y - size * 0.85, bottom: y + size * 0.25 };
      return [
        { x: at.x - radius, y, anchor: "start", cost: 0.5, box: { left: at.x - radius, right: at.x - radius + wide, ...box } },
        { x: at.x + radius, y, anchor: "end", cost: 0.5, box: { left: at.x + radius - wide, right: at.x + radius, ...box } },
      ];
    }),
  ];
}

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Liang and Barsky 1984. */
function crosses({ from, to }: Segment, { left, right, top, bottom }: Box): boolean {
  let [enter, leave] = [0, 1];
  const clip = (step: number, room: number): boolean => {
    if (step === 0) return room >= 0;
    const at = room / step;
    if (step < 0) enter = Math.max(enter, at);
    else leave = Math.min(leave, at);
    return enter <= leave;
  };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  return clip(-dx, from.x - left) && clip(dx, right - from.x) && clip(-dy, from.y - top) && clip(dy, bottom - from.y);
}
