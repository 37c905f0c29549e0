import type { Caller } from "../harness/caller.ts";
import { quantile } from "../harness/figures.ts";
import type { Question } from "./questions.ts";
import type { World } from "./world.ts";

const WARM_UP_CALLS = 3;
/** Time limit for all calls of one query. Slow queries get fewer calls. */
const ASKING_MS_MAX = 20_000;
/** Minimum number of calls, even for a slow query. */
const CALLS_MIN = 5;

export type Asked = {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly calls: number;
  /** Calls rejected because their range has too many rows. */
  readonly refused: number;
  /** The first unexpected response. Null if there was none. */
  readonly failure: string | null;
};

/** Sends the calls one after another. */
export async function ask(caller: Caller, { path }: Question, calls: number): Promise<Asked> {
  for (let i = 0; i < WARM_UP_CALLS; i++) await caller.send("GET", path(calls + i));
  const times: number[] = [];
  let refused = 0;
  let failure: string | null = null;
  const startMs = performance.now();
  for (let call = 0; call < calls; call++) {
    if (call >= CALLS_MIN && performance.now() - startMs > ASKING_MS_MAX) break;
    const { status, text, ms } = await caller.send("GET", path(call));
    times.push(ms);
    if (status === 400 && /"too_(large|long)"/.test(text)) refused += 1;
    else if (status !== 200) failure = `${path(call)} returned ${text}`;
  }
  const at = (share: number): number => quantile(times, share);
  return { p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1), calls: times.length, refused, failure };
}

/** Cursors spread over the whole list of events, in the format of the API. */
export async function findCursors(caller: Caller, { from, to }: World, count: number): Promise<string[]> {
  const cursors: string[] = [];
  for (let i = 1; i <= count; i++) {
    const before = new Date(to - ((to - from) * i) / (count + 1)).toISOString();
    const { nextCursor } = await caller.get<{ nextCursor?: string }>(`events?limit=1&to=${before}`);
    if (nextCursor === undefined) throw new Error(`there is no event before ${before}`);
    cursors.push(nextCursor);
  }
  return cursors;
}
