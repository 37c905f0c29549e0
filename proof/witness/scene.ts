import { seededRandom } from "../harness/random.ts";
import type { CallOptions, Recorder, Reply } from "./recorder.ts";

export const LIVE = "/manage/v1/projects/1/live";
export const TEST = "/manage/v1/projects/1/test";

/** `narrow` is for one environment only, and `short` expires during the first night. */
type Tokens = Record<"owner" | "operator" | "viewer" | "narrow" | "short", string>;

/** Credentials for calls, and random numbers that are the same in every run. */
export class Scene {
  readonly recorder: Recorder;
  readonly tokens: Tokens = { owner: "", operator: "", viewer: "", narrow: "", short: "" };
  /** API keys. */
  readonly keys = { live: "", test: "" };
  readonly #random: () => number;

  constructor(recorder: Recorder, seed: number) {
    this.recorder = recorder;
    this.#random = seededRandom(seed);
  }

  /** Calls the management API with the owner's token. A path without a leading slash is relative to the live environment. */
  readonly manage = (
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Reply> => {
    const absolute = path.startsWith("/") ? path : `${LIVE}/${path}`;
    return this.recorder.call(method, absolute, { token: this.tokens.owner, body, ...options });
  };

  readonly run = (endpoint: Endpoint, body: unknown, options: CallOptions = {}): Promise<Reply> =>
    this.recorder.call("POST", `/v1/${endpoint}`, { token: this.keys.live, body, ...options });

  /** A time relative to the current time. */
  readonly at = (ms: number): string => new Date(this.recorder.world.clock.now + ms).toISOString();

  /** A random whole number from 0 to `count`, exclusive. */
  readonly upTo = (count: number): number => Math.floor(this.#random() * count);

  readonly isLucky = (probability: number): boolean => this.#random() < probability;

  readonly pick = <T>(...list: readonly [T, ...T[]]): T => list[this.upTo(list.length)] ?? list[0];
}

export type Endpoint = "check" | "consume" | "events";

/** A string in a response, or MISSING, so that calls continue if a changed tree no longer has it. */
export function textIn(value: unknown, ...path: readonly (string | number)[]): string {
  let found: unknown = value;
  for (const name of path) found = Object(found)[name];
  return typeof found === "string" || typeof found === "number" ? String(found) : MISSING;
}

export const MISSING = "missing";
