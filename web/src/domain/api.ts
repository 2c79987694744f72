/** What the controller serves under /api/v1, as far as the page shows it; docs/api.md tells it in full. */

/** Nanoseconds since the controller started. */
export type Time = number;

export interface SwitchPort {
  dpid: string;
  port: number;
}

export interface Switch {
  dpid: string;
  address: string | null;
  ports: { port: number; name: string; up: boolean; role: string | null }[];
}

export interface Link {
  src: SwitchPort;
  dst: SwitchPort;
  capacity_bps: number;
  delay_us: { base: number; current: number } | null;
  delay_at: Time | null;
  load_bps: number | null;
  load_at: Time | null;
  loss: number | null;
  loss_at: Time | null;
}

export interface Host {
  mac: string;
  at: SwitchPort;
  addresses: string[];
  last_seen: Time;
}

export interface Stream {
  id: number;
  src: string;
  dst: string;
  src_port: number;
  dst_port: number;
  path: string[];
  bytes_sent: number;
  bytes_received: number;
  sent_bps: number;
  received_bps: number;
}

export interface Transfer {
  id: number;
  kind: string;
  opened_at: Time;
  streams: Stream[];
}

export interface Event {
  number: number;
  time: Time;
  level: "debug" | "info" | "warning";
  text: string;
  notice: string;
}

export interface Snapshot {
  now: Time;
  switches: Switch[];
  links: Link[];
  hosts: Host[];
  transfers: Transfer[];
  events: Event[];
}

/** What has changed of a list. */
export interface Changes<T> {
  set: T[];
  gone: string[];
}

export interface Delta {
  now: Time;
  switches?: Changes<Switch>;
  links?: Changes<Link>;
  hosts?: Changes<Host>;
  transfers?: Changes<Transfer>;
}

export interface TransferHistory {
  now: Time;
  id: number;
  step_s: number;
  times: Time[];
  streams: StreamHistory[];
}

/** A stream, which may have ended, step by step. */
export interface StreamHistory extends Omit<Stream, "bytes_sent" | "bytes_received" | "sent_bps" | "received_bps"> {
  sent_bps: (number | null)[];
  received_bps: (number | null)[];
}
