import { integerBetween, pickFrom } from "../../harness/chance.ts";
import { findDecision } from "../check/answers.ts";
import type { History } from "../history/history.ts";
import type { ManageRequest } from "../history/manage-call.ts";
import { pickBuyer } from "../load/customers.ts";

/** Of the calls looked at for one to reverse: most recent ones, but an old one now and then. */
const LOOKS_MAX = 50;
const RECENT = 400;
const LIFE_MS = { min: 500, max: 20_000 };

let made = 0;

/** Top-ups and reversals, and now and then another plan. */
export function makeManageRequest(history: History): ManageRequest {
  const chance = integerBetween(0, 100);
  if (chance < 40) return makeTopUp();
  const reversal = chance < 80 ? makeReversal(history) : null;
  if (reversal !== null) return reversal;
  const plan = integerBetween(0, 2) === 0 ? "starter" : "growth";
  return { operation: "assignPlan", customerId: pickBuyer(), plan };
}

/** A third of them with an end, so that credits also run out while nobody looks. */
function makeTopUp(): ManageRequest {
  made += 1;
  const top = { operation: "addCredits", customerId: pickBuyer(), reference: `payment ${made}` } as const;
  const credits = integerBetween(20, 400);
  if (integerBetween(0, 3) > 0) return { ...top, kind: pickKind(), credits, expiresAtMs: null };
  const expiresAtMs = Date.now() + integerBetween(LIFE_MS.min, LIFE_MS.max);
  return { ...top, kind: "promotion", credits, expiresAtMs };
}

function pickKind(): "purchase" | "manual" {
  return integerBetween(0, 2) === 0 ? "purchase" : "manual";
}

/** Of a consume that a caller knows of, half of the time as a whole. Null when none was found. */
function makeReversal({ calls }: History): ManageRequest | null {
  const pool = integerBetween(0, 4) === 0 ? calls : calls.slice(-RECENT);
  for (let look = 0; look < LOOKS_MAX; look++) {
    const call = pickFrom(pool);
    const consumeId = call === null ? null : (findDecision(call)?.consumeId ?? null);
    if (call === null || consumeId === null) continue;
    const isWhole = integerBetween(0, 2) === 0;
    const quantity = isWhole ? null : integerBetween(1, call.request.quantity + 1);
    return { operation: "reverseConsume", consumeId, quantity };
  }
  return null;
}
