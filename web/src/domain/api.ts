/** What the controller serves, by the names that the page uses. `schema.ts` is made from its description (`make openapi`). */
import type { components } from "./schema";

type Schemas = components["schemas"];

/** Nanoseconds since the controller started. */
export type Time = number;

export type SwitchPort = Schemas["SwitchPort"];
export type Switch = Schemas["Switch"];
export type Link = Schemas["Link"];
export type Host = Schemas["Host"];
export type Edge = Schemas["Edge"];
export type EdgePath = Schemas["EdgePath"];
export type Stream = Schemas["Stream"];
export type Transfer = Schemas["Transfer"];
export type Event = Schemas["Event"];
export type Snapshot = Schemas["Snapshot"];
export type NetworkTotals = Schemas["NetworkTotals"];
export type Delta = Schemas["Delta"];
export type TransferHistory = Schemas["TransferHistory"];
export type EdgeHistory = Schemas["EdgeHistory"];
export type LinkHistory = Schemas["LinkHistory"];
export type StreamHistory = TransferHistory["streams"][number];
export type TestbedLink = Schemas["TestbedLink"];
export type LinkChange = Schemas["LinkChange"];
export type NewTestbedLink = Schemas["NewTestbedLink"];
export type Problem = Schemas["ProblemDocument"];

/** What has changed of a list. */
export interface Changes<T> {
  set: T[];
  removed: string[];
}
