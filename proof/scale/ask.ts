import type { Service } from "../manage/service.ts";
import type { Shop } from "../manage/shop.ts";
import type { Question } from "./questions.ts";
import type { World } from "./world.ts";

const WARM_UP_CALLS = 3;
/** Of one question: those that take long are asked less often, */
const ASKING_MS_MAX = 20_000;
/** but so often at least. */
const CALLS_MIN = 5;

export type Asked = {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly calls: number;
  /** Of those: turned down, because more would have to be read than may be. */
  readonly refused: number;
  /** What a call was answered with that should not have been. Null: all went well. */
  readonly failure: string | null;
};

export type Asker = { readonly service: Service; readonly shop: Shop };

/** One call after another. */
export async function ask(asker: Asker, { path }: Question, calls: number): Promise<Asked> {
  for (let i = 0; i < WARM_UP_CALLS; i++) await get(asker, path(calls + i));
  const times: number[] = [];
  let refused = 0;
  let failure: string | null = null;
  const startMs = performance.now();
  for (let call = 0; call < calls; call++) {
    if (call >= CALLS_MIN && performance.now() - startMs > ASKING_MS_MAX) break;
    const { status, text, ms } = await get(asker, path(call));
    times.push(ms);
    if (status === 400 && /"too_(large|long)"/.test(text)) refused += 1;
    else if (status !== 200) failure = `${path(call)} was answered with ${text}`;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
  return { p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1), calls: times.length, refused, failure };
}

export type Reply = { readonly status: number; readonly text: string; readonly ms: number };

export async function get({ service, shop }: Asker, path: string): Promise<Reply> {
  const startMs = performance.now();
  const response = await fetch(`${service.url}${shop.here}/${path}`, {
    headers: { authorization: `Bearer ${shop.token}` },
  });
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - startMs };
}

/** Places all over the list of events, each as a page would have given it out. */
export async function findCursors(asker: Asker, { from, to }: World, count: number): Promise<string[]> {
  const cursors: string[] = [];
  for (let i = 1; i <= count; i++) {
    const before = new Date(to - ((to - from) * i) / (count + 1)).toISOString();
    const { nextCursor }: { nextCursor?: string } = JSON.parse(
      (await get(asker, `events?limit=1&to=${before}`)).text,
    );
    if (nextCursor === undefined) throw new Error(`there is no event before ${before}`);
    cursors.push(nextCursor);
  }
  return cursors;
}
