/** Where switches are drawn when nobody says where they are: springs and repulsion, the same each time. */

export interface Point {
  x: number;
  y: number;
}

const STEPS = 300;

/** A number from 0 to 1 that a text always has: FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return (value >>> 0) / 2 ** 32;
}

/**
 * Places in a square of side 1, by name. Those that were placed `before` stay where they were, unless most are new.
 *
 * O(steps · nodes²): 80 switches take some 20 ms.
 */
export function layout(
  nodes: readonly string[],
  edges: readonly (readonly [string, string])[],
  before: ReadonlyMap<string, Point> = new Map(),
): Map<string, Point> {
  const names = [...nodes].sort();
  const index = new Map(names.map((name, at) => [name, at]));
  const pairs = edges
    .map(([a, b]) => [index.get(a), index.get(b)] as const)
    .filter((pair): pair is readonly [number, number] => pair[0] !== undefined && pair[1] !== undefined);
  const turns = walk(names.length, pairs);
  const points = names.map((name, at) => start(name, turns[at] ?? 0, names.length, before.get(name)));
  const ideal = 0.9 / Math.sqrt(Math.max(1, names.length));
  const known = names.filter((name) => before.has(name)).length;
  const grows = known * 2 > names.length;
  const free = names.map((name) => !grows || !before.has(name));
  if (free.includes(true)) {
    for (let step = 0; step < STEPS; step += 1) move(points, free, pairs, ideal, 0.12 * (1 - step / STEPS));
  }
  const fitted = grows ? points.map(inside) : fit(points);
  return new Map(names.map((name, at) => [name, fitted[at] as Point]));
}

/** When a walk along the edges first comes to each node: a ring is drawn as one, not crossed. */
function walk(count: number, pairs: readonly (readonly [number, number])[]): number[] {
  const beside: number[][] = Array.from({ length: count }, () => []);
  for (const [a, b] of pairs) {
    beside[a]?.push(b);
    beside[b]?.push(a);
  }
  const turns: number[] = Array.from({ length: count }, () => -1);
  let turn = 0;
  for (let first = 0; first < count; first += 1) {
    const waiting = [first];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (turns[node] !== -1) continue;
      turns[node] = turn;
      turn += 1;
      waiting.push(...[...(beside[node] ?? [])].sort((a, b) => b - a));
    }
  }
  return turns;
}

const inside = ({ x, y }: Point): Point => ({ x: Math.min(1, Math.max(0, x)), y: Math.min(1, Math.max(0, y)) });

function start(name: string, at: number, count: number, before: Point | undefined): Point {
  if (before) return { ...before };
  const angle = (2 * Math.PI * at) / Math.max(1, count);
  const radius = 0.3 + 0.1 * hash(name);
  return { x: 0.5 + radius * Math.cos(angle), y: 0.5 + radius * Math.sin(angle) };
}

/** One step of Fruchterman and Reingold 1991. */
function move(
  points: Point[],
  free: readonly boolean[],
  pairs: readonly (readonly [number, number])[],
  ideal: number,
  heat: number,
): void {
  const forces = points.map(() => ({ x: 0, y: 0 }));
  const apply = (a: number, b: number, strength: (distance: number) => number) => {
    const [p, q] = [points[a] as Point, points[b] as Point];
    const [dx, dy] = [p.x - q.x, p.y - q.y];
    const distance = Math.max(1e-4, Math.hypot(dx, dy));
    const force = strength(distance) / distance;
    const [f, g] = [forces[a] as Point, forces[b] as Point];
    f.x += dx * force;
    f.y += dy * force;
    g.x -= dx * force;
    g.y -= dy * force;
  };
  for (let a = 0; a < points.length; a += 1)
    for (let b = a + 1; b < points.length; b += 1) apply(a, b, (distance) => (ideal * ideal) / distance);
  for (const [a, b] of pairs) apply(a, b, (distance) => -(distance * distance) / ideal);
  points.forEach((point, at) => {
    if (!free[at]) return;
    const force = forces[at] as Point;
    const length = Math.max(1e-9, Math.hypot(force.x, force.y));
    const step = Math.min(length, heat) / length;
    point.x += force.x * step;
    point.y += force.y * step;
  });
}

/** The points turned so that they spread sideways, and scaled to the square. */
function fit(points: Point[]): Point[] {
  if (points.length < 2) return points.map(() => ({ x: 0.5, y: 0.5 }));
  const mean = (of: (point: Point) => number) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [mx, my] = [mean((it) => it.x), mean((it) => it.y)];
  const [xx, yy] = [mean((it) => (it.x - mx) ** 2), mean((it) => (it.y - my) ** 2)];
  const xy = mean((it) => (it.x - mx) * (it.y - my));
  const angle = -0.5 * Math.atan2(2 * xy, xx - yy);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = points.map(({ x, y }) => ({
    x: (x - mx) * cos - (y - my) * sin,
    y: (x - mx) * sin + (y - my) * cos,
  }));
  const scale = (of: (point: Point) => number) => {
    const values = turned.map(of);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (value: number) => (high - low < 1e-6 ? 0.5 : (value - low) / (high - low));
  };
  const [sx, sy] = [scale((it) => it.x), scale((it) => it.y)];
  return turned.map(({ x, y }) => ({ x: sx(x), y: sy(y) }));
}
