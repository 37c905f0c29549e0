import { execFile } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { CALLS, type Call } from "../../harness/calls.ts";

const run = promisify(execFile);

type WrkOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly call: Call;
  readonly customers: number;
  readonly seconds: number;
  readonly connections: number;
  /** Uses UUIDv7 keys. */
  readonly hasOrderedKeys?: boolean;
};

export type WrkResult = {
  readonly requests: number;
  readonly seconds: number;
  /** Failed calls and unexpected responses. Denials are errors too, because a denial is faster than a charge. */
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** A closed loop: each connection sends its next call after it has received the previous response. */
export async function runWrk(options: WrkOptions): Promise<WrkResult> {
  const { stdout } = await run(
    "wrk",
    [
      ...["-t", "1", "-c", String(options.connections), "-d", `${options.seconds}s`],
      ...["-s", join(import.meta.dirname, "calls.lua"), options.url],
    ],
    {
      env: {
        PATH: process.env["PATH"],
        API_KEY: options.apiKey,
        CALL_PATH: options.call.path,
        BODY: options.call.body,
        PROOF: options.call.proof ?? "",
        EVENTS: String(options.call.events ?? 0),
        SETTLES: options.call === CALLS.holds ? "1" : "0",
        TIME_ORDERED: options.hasOrderedKeys === true ? "1" : "0",
        CUSTOMERS: String(options.customers),
        // New keys for each run. Reused keys would measure replays.
        RUN: `bench-${randomUUID().slice(0, 13)}-`,
        SEED: String(randomInt(2 ** 31)),
      },
    },
  );
  const line = stdout.trim().split("\n").at(-1) ?? "";
  return JSON.parse(line);
}
