import { getFeatureKey } from "../../entitlement/catalog.ts";
import { findConflict } from "../../entitlement/key-conflict.ts";
import {
  type KeyedReversal,
  type KeyedReversalOutcome,
  REVERSIBLE_MS_MAX,
  type Reversal,
  storeReversal,
} from "../../entitlement/reversal.ts";
import { DATA_FORMAT_OF_ITEMS } from "../../entitlement/stored-answer.ts";
import type { Pool } from "../../postgres/pool.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../primitives/brand.ts";
import { clocksAgree } from "../../primitives/clocks-agree.ts";
import { readConsumeId } from "../../primitives/consume-id.ts";
import { parseTimedId } from "../../primitives/public-id.ts";
import {
  deleteKeyedRequests,
  insertKeyedRequests,
  type KeyName,
  lockKeyedRequests,
} from "../../store/cell/keyed-requests.ts";
import { openWallet } from "../../store/cell/open-wallets.ts";
import { listConsumes } from "../../store/cell/reversals.ts";
import type { Context } from "../context.ts";
import { reportDatabaseErrors } from "../database-trouble.ts";
import { watchReversals } from "../refuse-detached-ledger.ts";
import { refuseUnfinishedUpgrade } from "../refuse-unfinished-upgrade.ts";
import { walletTransaction } from "../wallet-transaction.ts";
import { chooseConsumes, reverseChosen } from "./reverse-consume.ts";

type Cell = {
  readonly cell: Pool;
  /** Number of days for which idempotency keys are kept. Null means forever. */
  readonly idempotencyDays: number | null;
};

const ENDPOINT = "consume/reverse";
const RERUNS_MAX = 3;

/**
 * Reverses a charge for a backend, in the same way and under the same lock as an operator's reversal. The response is stored under the
 * request's key in the same transaction, so a repeated request reverses nothing more. `server.ts` passes this function to the runtime.
 */
export function reverseByApiKey(
  where: Cell,
  context: Context,
  reversal: Reversal,
  keyed: KeyedReversal,
): Promise<KeyedReversalOutcome> {
  const key = { ...keyed, projectId: context.projectId };
  const work = (tx: Tx) => reverseIn(tx, where, context, reversal, key);
  return reportDatabaseErrors(async () => {
    for (let reruns = 0; ; reruns++) {
      try {
        return await walletTransaction(where.cell, context, reversal.customerId, work);
      } catch (error) {
        // Another request stored the same key in the meantime. The next attempt finds it.
        if (reruns === RERUNS_MAX || decodeSqlError(error).kind !== "conflict") throw error;
      }
    }
  });
}

type Key = KeyName & KeyedReversal;

async function reverseIn(
  tx: Tx,
  { idempotencyDays }: Cell,
  context: Context,
  reversal: Reversal,
  key: Key,
): Promise<KeyedReversalOutcome> {
  const { customerId, consumeId, part, note } = reversal;
  await refuseUnfinishedUpgrade(tx, {
    feature: "Reversing charges with an API key",
    dataFormat: DATA_FORMAT_OF_ITEMS,
  });
  const open = await openWallet(tx, context, customerId);
  const subjectId = parseTimedId("con", consumeId);
  const id = subjectId === null ? null : readConsumeId(subjectId);
  const isOwn = id !== null && id.customerNumber === open?.customerNumber;
  // The key for reversing a whole charge is the charge's ID. Looking up this key could reveal that another customer's charge was reversed.
  if (!isOwn && part === null) return { kind: "charge_not_found" };
  const [found] = await lockKeyedRequests(tx, [key], idempotencyDays);
  const isEnded = found?.isEnded === true && open !== null && clocksAgree(open.clock);
  if (found !== undefined && !isEnded) {
    const conflict = findConflict({ ...key, ...context, endpoint: ENDPOINT }, found);
    if (conflict !== null) return { kind: "key_reused", conflict };
    return { kind: "answered", answer: found.answer, replayed: true };
  }
  if (!isOwn || open === null || subjectId === null) return { kind: "charge_not_found" };
  if (isTooOld(id.recordedAt, open.clock)) return { kind: "charge_too_old" };
  const { environmentId, catalog } = open;
  const refuseUnknown = await watchReversals(tx, id.recordedAt);
  const all = await listConsumes(tx, { ...id, environmentId });
  await refuseUnknown();
  const feature = part?.feature ?? null;
  const item =
    feature === null ? null : all.findIndex((charge) => getFeatureKey(catalog, charge.feature) === feature);
  if (item === -1) return { kind: "charge_not_found" };
  const quantity = part?.quantity ?? null;
  const consumes = chooseConsumes(all, { item, quantity });
  if ("kind" in consumes)
    return { kind: consumes.kind === "item_required" ? "feature_required" : "charge_not_found" };
  const keyHash = part === null ? {} : { keyHash: key.keyHash };
  const named = { consumeId, item: all.length > 1 ? item : null };
  const outcome = await reverseChosen(tx, context, open, consumes, { ...named, quantity, note, ...keyHash });
  if (outcome.kind !== "reversed") return outcome;
  const { wallet } = outcome.change;
  const answer = storeReversal(catalog, { subjectId, consumes, total: outcome, wallet });
  if (isEnded) await deleteKeyedRequests(tx, [key]);
  await insertKeyedRequests(tx, [{ ...key, environmentId, endpoint: ENDPOINT, answer }], open.clock);
  return { kind: "answered", answer, replayed: false };
}

function isTooOld(chargedAt: Instant, now: Instant): boolean {
  return chargedAt < now - REVERSIBLE_MS_MAX;
}
