/** The coasts of the Earth, coarsely: Natural Earth, 1:110 million, which is in the public domain. */
import land from "world-atlas/land-110m.json";
import { decode, type Arcs } from "./geography";

export const coasts = decode(land as unknown as Arcs);
