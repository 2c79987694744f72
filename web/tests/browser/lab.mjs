// The lab that the page shows: its controller, its switches, traffic on its hosts. Started by tests/page/check.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const { BRAID: braid, BRAID_LAB: lab } = process.env;
const OPENFLOW = "127.0.0.1:6653";
// Says what the links carry, which virtual ports do not.
const SCENARIO = "../scenarios/ams-gva.yaml";
export const PAGE = "http://127.0.0.1:8653/";
const running = [];

function start(command, ...rest) {
  const process = spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] });
  running.push(process);
  return process;
}

export async function startController() {
  const controller = start(braid, "controller", "run", "--openflow", OPENFLOW, "--network", SCENARIO, "--lab", lab);
  await once(createInterface(controller.stdout), "line");
  return controller;
}

export async function stop(process) {
  const ended = once(process, "exit");
  process.kill("SIGTERM");
  await ended;
}

export function joinSwitches(names) {
  for (const name of names) {
    const target = `tcp:${OPENFLOW}`;
    execFileSync("ovs-vsctl", [
      "set-controller", name, target, "--", "set", "controller", name, "max_backoff=1000", "connection_mode=out-of-band",
    ]);
  }
}

/** A command on a host of the lab. */
export const on = (host, ...command) => start(braid, "lab", "exec", lab, host, "--", ...command);

export const stopAll = () => running.forEach((process) => process.kill("SIGKILL"));
