/** Where switches are drawn that stand somewhere on Earth. */
import type { Point } from "./layout";

/** In degrees; north and east are positive. */
export interface Position {
  latitude: number;
  longitude: number;
}

/** How a part of the Earth becomes the square of side 1. */
export interface Projection {
  point(position: Position): Point;
  /** The meridians and parallels, from end to end. */
  graticule: Position[][];
  /** A longer line takes the other side of the Earth. */
  half: number;
}

/** The least part of the Earth that is drawn, in degrees of latitude: a network within a town is a schema. */
const LEAST_SPAN = 2;
const STEPS = [1, 2, 5, 10, 20, 30, 45];
/** Switches that are nearer than this are drawn around their middle. */
const NEAR = 0.06;

/** Longitudes from -180 to 180. */
const wrap = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180;

/** The middle of the shortest arc that has all longitudes, and how long it is. */
function arc(longitudes: readonly number[]): { middle: number; span: number } {
  const sorted = [...longitudes].sort((a, b) => a - b);
  let [widest, after] = [-1, 0];
  sorted.forEach((it, at) => {
    const next = sorted[at + 1] ?? (sorted[0] as number) + 360;
    if (next - it > widest) [widest, after] = [next - it, next];
  });
  const span = 360 - widest;
  return { middle: wrap(after + span / 2), span };
}

/**
 * Equirectangular, true to scale in the middle of `positions`; nothing if there are none.
 *
 * `aspect` is the width of the square as it is drawn, by its height.
 */
export function project(positions: readonly Position[], aspect: number): Projection | null {
  if (positions.length === 0) return null;
  const { middle, span } = arc(positions.map((it) => it.longitude));
  const latitudes = positions.map((it) => it.latitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const centre = (south + north) / 2;
  const squeeze = Math.max(0.2, Math.cos((centre * Math.PI) / 180));
  const height = Math.max(LEAST_SPAN, north - south, (span * squeeze) / aspect);
  const width = (height * aspect) / squeeze;
  const point = ({ latitude, longitude }: Position): Point => ({
    x: 0.5 + wrap(longitude - middle) / width,
    y: 0.5 - (latitude - centre) / height,
  });
  return { point, graticule: graticule(middle, centre, width, height), half: 180 / width };
}

/** Lines somewhat beyond the square, so that they cross the picture's margin. */
function graticule(middle: number, centre: number, width: number, height: number): Position[][] {
  const step = STEPS.find((it) => height / it <= 8) ?? 45;
  const lines: Position[][] = [];
  const [w, e] = [middle - Math.min(179.9, width), middle + Math.min(179.9, width)];
  const [s, n] = [Math.max(-90, centre - height), Math.min(90, centre + height)];
  for (let at = Math.ceil(w / step) * step; at <= e; at += step)
    lines.push([s, n].map((latitude) => ({ latitude, longitude: at })));
  for (let at = Math.ceil(s / step) * step; at <= n; at += step)
    lines.push([w, middle, e].map((longitude) => ({ latitude: at, longitude })));
  return lines;
}

/** The places of those that stand somewhere, with those apart that stand together. */
export function placed(positions: ReadonlyMap<string, Position>, projection: Projection, aspect: number): Map<string, Point> {
  const sites: { at: Point; names: string[] }[] = [];
  for (const [name, position] of [...positions].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const at = projection.point(position);
    const near = sites.find((it) => Math.hypot((it.at.x - at.x) * aspect, it.at.y - at.y) < NEAR);
    if (near) near.names.push(name);
    else sites.push({ at, names: [name] });
  }
  return new Map(sites.flatMap(({ at, names }) => names.map((name, nth) => [name, around(at, nth, names.length, aspect)] as const)));
}

function around(at: Point, nth: number, count: number, aspect: number): Point {
  if (count === 1) return at;
  const radius = Math.max(NEAR, (NEAR * count) / 5);
  const angle = (2 * Math.PI * nth) / count - Math.PI / 2;
  return { x: at.x + (radius * Math.cos(angle)) / aspect, y: at.y + radius * Math.sin(angle) };
}

/** Lines as the `d` of an SVG path, cut where they leave the Earth on one side and come back on the other. */
export function drawn(lines: readonly (readonly Position[])[], projection: Projection, place: (point: Point) => Point): string {
  const seen = (point: Point) => point.x > -1 && point.x < 2 && point.y > -1 && point.y < 2;
  const parts: string[] = [];
  for (const line of lines) {
    let before: Point | null = null;
    let pen = false;
    for (const position of line) {
      const point = projection.point(position);
      const jumps = before !== null && Math.abs(point.x - before.x) > projection.half;
      const shown = seen(point) || (before !== null && seen(before));
      const { x, y } = place(point);
      if (shown && !jumps) {
        if (!pen && before) {
          const from = place(before);
          parts.push(`M${from.x.toFixed(1)} ${from.y.toFixed(1)}`);
        }
        parts.push(`${before ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
        pen = true;
      } else pen = false;
      before = point;
    }
  }
  return parts.join("");
}

/** What is needed of TopoJSON: arcs, each a chain of steps in a grid. */
export interface Arcs {
  transform: { scale: number[]; translate: number[] };
  arcs: number[][][];
}

/** The lines of a map. https://github.com/topojson/topojson-specification */
export function decode({ transform: { scale, translate }, arcs }: Arcs): Position[][] {
  const [sx = 1, sy = 1] = scale;
  const [tx = 0, ty = 0] = translate;
  return arcs.map((steps) => {
    let [x, y] = [0, 0];
    return steps.map(([dx = 0, dy = 0]) => {
      [x, y] = [x + dx, y + dy];
      return { longitude: x * sx + tx, latitude: y * sy + ty };
    });
  });
}
