/** Paths as ribbons: those that share a link lie side by side on it. */
import type { Point } from "./layout";

export interface Stop {
  name: string;
  at: Point;
}
export interface Ribbon {
  key: string;
  stops: readonly Stop[];
  /** What names the link after each stop; ribbons with the same name lie on the same link. */
  links: readonly string[];
}
export interface Drawing {
  /** How far each link is drawn beside the straight line between its ends. */
  shift: (link: string) => number;
  /** From ribbon to ribbon. */
  step: number;
  /** The most that all ribbons of a link take. */
  most: number;
  /** How far from a stop a ribbon bends. */
  radius: number;
}

/** The corners of each ribbon. */
export function ribbons(all: readonly Ribbon[], drawing: Drawing): Map<string, Point[]> {
  const users = new Map<string, string[]>();
  for (const { key, links } of all)
    for (const link of new Set(links)) users.set(link, [...(users.get(link) ?? []), key]);
  return new Map(all.map((ribbon) => [ribbon.key, corners(ribbon, users, drawing)]));
}

function corners({ key, stops, links }: Ribbon, users: ReadonlyMap<string, readonly string[]>, drawing: Drawing): Point[] {
  if (stops.length < 2) return stops.map((it) => it.at);
  return links.flatMap((link, at) => {
    const [from, to] = [stops[at], stops[at + 1]];
    if (!from || !to) return [];
    const beside = users.get(link) ?? [];
    const step = Math.min(drawing.step, drawing.most / Math.max(1, beside.length));
    const offset = drawing.shift(link) + (beside.indexOf(key) - (beside.length - 1) / 2) * step;
    return beside.length === 0 ? [from.at, to.at] : segment(from, to, offset, drawing.radius);
  });
}

/** A segment beside the line between two stops; on the same side for either direction. */
function segment(from: Stop, to: Stop, offset: number, radius: number): Point[] {
  const [a, b] = [from.at, to.at];
  const length = Math.max(1e-6, Math.hypot(b.x - a.x, b.y - a.y));
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const side = from.name < to.name ? offset : -offset;
  const short = Math.min(radius, length / 3);
  return [
    { x: a.x + ux * short - uy * side, y: a.y + uy * short + ux * side },
    { x: b.x - ux * short - uy * side, y: b.y - uy * short + ux * side },
  ];
}
