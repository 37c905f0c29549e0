// A client for Purser without dependencies, for Node.js 24. Copy it and change it. The README explains its rules.
import { setTimeout as sleep } from "node:timers/promises";

const { PURSER_URL = "http://127.0.0.1:3300", PURSER_KEY = "" } = process.env;
const [ATTEMPT_MS, HOLD_SECONDS] = [3_000, 900];

type Body = { customerId: string; [field: string]: unknown };
type KeyedBody = Body & { idempotencyKey: string };
type Use = (quantity: number) => Promise<boolean>;
type Work = (use: Use) => Promise<number | undefined>;
type Answer = { allowed?: boolean; holdId?: string; affordableQuantity?: number; [field: string]: unknown };

export class PurserError extends Error {
  status = 0; // no response
  code: string | null = null;
}

/** Begins with the environment, because Test and Live share idempotency keys: `live:chat:msg_5521`. */
export const makeKey = (...parts: (string | number)[]) => [PURSER_KEY.split("_")[1], ...parts].join(":");

export const check = (body: Body) => call("check", body, 1_000);
export const consume = (body: KeyedBody) => call("consume", body);
export const hold = (body: KeyedBody) => call("holds", body);
export const extend = (holdId: string, body: Body) => call(`holds/${holdId}/extend`, body);
export const settle = (holdId: string, body: Body) => call(`holds/${holdId}/settle`, body, 30_000);
export const release = (holdId: string, body: Body) => call(`holds/${holdId}/release`, body, 30_000);

/** Sends the same bytes again until there is a definite response or the deadline has passed. */
async function call(path: string, body: Body, deadlineMs = 10_000): Promise<Answer> {
  const headers = { authorization: `Bearer ${PURSER_KEY}`, "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body), redirect: "manual" } as const;
  const deadline = performance.now() + deadlineMs;
  for (let backoffMs = 200; ; backoffMs = Math.min(backoffMs * 2, 5_000)) {
    const error = new PurserError();
    const note = (cause: unknown) => void Object.assign(error, { cause });
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const signal = AbortSignal.timeout(Math.min(ATTEMPT_MS, leftMs));
    const response = await fetch(`${PURSER_URL}/v1/${path}`, { ...request, signal }).catch(note);
    // Undefined if the connection broke, or if a proxy responded with something other than JSON.
    const answer = (await response?.json().catch(note)) as Answer | undefined;
    if (response?.ok && answer !== undefined) return answer;
    const { code = null, detail = "no response from Purser" }: Answer = answer ?? {};
    Object.assign(error, { status: response?.status ?? 0, code, message: `${path}: ${detail}` });
    const mayRetry = !response || response.ok || response.status === 429 || response.status >= 500;
    const waitMs = 1_000 * (Number(response?.headers.get("retry-after")) || 0) + Math.random() * backoffMs;
    if (!mayRetry || waitMs >= deadline - performance.now()) throw error;
    await sleep(waitMs);
  }
}

/**
 * Holds credits while `work` runs, and charges for what was used, even if `work` throws. Before each part, `work` calls `use` with the
 * part's quantity. If `use` returns false, the customer cannot pay, and `work` stops. If `work` returns a quantity, that is charged.
 */
export async function stream(body: KeyedBody, step: number, work: Work) {
  let answer = await hold({ ...body, quantity: 1 });
  if (!answer.allowed) return answer;
  const [holdId, who] = [answer.holdId ?? "", { customerId: body.customerId }];
  let [used, held, extendAt] = [0, 1, performance.now() + HOLD_SECONDS * 500];
  const use: Use = async (more) => {
    const wanted = used + more;
    // Extends the hold by several parts at once, and also well before it expires.
    let quantity = wanted + step;
    while (wanted > held || performance.now() > extendAt) {
      answer = await extend(holdId, { ...who, quantity, expiresInSeconds: HOLD_SECONDS });
      if (answer.allowed) [held, extendAt] = [quantity, performance.now() + HOLD_SECONDS * 500];
      else quantity = answer.affordableQuantity ?? 0;
      if (quantity < wanted) return false;
    }
    used = wanted;
    return true;
  };
  try {
    used = (await work(use)) ?? used;
  } finally {
    answer = used > 0 ? await settle(holdId, { ...who, quantity: used }) : await release(holdId, who);
  }
  return answer;
}
