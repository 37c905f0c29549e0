import type { Catalog } from "../../entitlement/catalog.ts";
import { extendHold, releaseHold, settleHold } from "../../entitlement/change-hold.ts";
import type { Change } from "../../entitlement/entry.ts";
import type { SettledItem } from "../../entitlement/hold.ts";
import { describeClosing, describeExtension } from "../../entitlement/hold-answer.ts";
import { exceededLimit } from "../../entitlement/metadata.ts";
import type { Hold, Wallet } from "../../entitlement/wallet.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import { consumeId } from "../../primitives/consume-id.ts";
import { publicId } from "../../primitives/public-id.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { LatestHold } from "../../store/cell/hold-list.ts";
import type { FoundWallet } from "../../store/cell/wallets.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import { refuse, withCatalog } from "./decide-one.ts";
import type { Pending } from "./pending.ts";
import {
  type HoldAction,
  type HoldChangeRequest,
  type HoldProblem,
  LOCKED,
  type Outcome,
  type Undecided,
} from "./request.ts";

type Action<K extends HoldAction["kind"]> = Extract<HoldAction, { kind: K }>;

/** Everything that a change to a hold depends on. */
type Subject = {
  readonly catalog: Catalog;
  readonly found: FoundWallet;
  readonly wallet: Wallet;
  readonly hold: Hold;
  readonly now: Instant;
  readonly plan: BatchPlan;
};

/** The JSON of the response, or the reason why nothing was changed. */
type Result =
  | HoldProblem
  | { readonly text: string; readonly reason: Extract<Outcome, { kind: "hold_changed" }>["reason"] };

/** Settles, releases or extends a hold, using the wallet and the hold as earlier requests in this batch left them. */
export function decideHoldChange(
  request: HoldChangeRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome | Undecided {
  const { action, environmentId } = request;
  const found = plan.wallets.get(customerKey(request));
  if (found !== undefined && found.readWallet === null && !found.isMissing) return LOCKED;
  const latest = found === undefined ? undefined : findNamed(request, found, plan);
  const wallet = found === undefined ? null : plan.readWallet(found);
  if (found === undefined || latest === undefined || wallet === null)
    return refuse(pending, { kind: "hold_not_found" });
  const { kind, hold } = latest;
  if (kind === "settled" || kind === "released") return answerEnded(pending, action, latest);
  // Checked after the stored response, so that a repeated settlement gets its response even if the limit has since been lowered.
  const exceeded = exceededLimit(action.kind === "settle" ? action.metadata : null, request.metadataLimits);
  if (exceeded !== null) return refuse(pending, exceeded);
  const result = withCatalog(facts, environmentId, (catalog) =>
    change({ catalog, found, wallet, hold, now: facts.now, plan }, action),
  );
  if (typeof result === "string") return refuse(pending, { kind: result });
  return "kind" in result ? result : { kind: "hold_changed", ...result, replayed: false };
}

/** Finds the hold that the request names. Undefined if it does not exist or belongs to another customer. */
function findNamed({ hold, environmentId }: HoldChangeRequest, found: FoundWallet, plan: BatchPlan) {
  if (found.customerNumber !== hold.customerNumber) return undefined;
  const latest = plan.findHold({ ...hold, environmentId });
  return latest?.hold.openedAt === hold.openedAt ? latest : undefined;
}

/** Returns the stored response if the request repeats the one that ended the hold. Rejects any other request. */
function answerEnded(pending: Pending, action: HoldAction, { kind, closing }: LatestHold): Outcome {
  if (action.kind === "extend" || closing?.fingerprint !== action.fingerprint)
    return refuse(pending, { kind: kind === "settled" ? "hold_settled" : "hold_released" });
  // After an unknown outcome, this request may have ended the hold itself, so the response is not marked as a replay.
  return { kind: "hold_changed", text: closing.answer, replayed: !pending.isUncertain, reason: null };
}

function change(subject: Subject, action: HoldAction): Result {
  switch (action.kind) {
    case "settle":
      return settle(subject, action);
    case "release":
      return release(subject, action);
    case "extend":
      return extend(subject, action);
    default:
      return assertNever(action);
  }
}

function settle(subject: Subject, action: Action<"settle">): Result {
  const { catalog, found, wallet, hold, now, plan } = subject;
  const quantities = readQuantities(catalog, hold, action);
  if (quantities === "hold_items_mismatch") return quantities;
  const outcome = settleHold(catalog, wallet, { hold, quantities, atMostHeld: action.atMostHeld }, now);
  if (outcome.kind === "settled_too_late") return "hold_expired";
  if (outcome.kind === "charged_on_expiry") {
    if (outcome.change !== null) plan.changes.add(found, outcome.change);
    return "hold_settled";
  }
  return end(subject, "settled", outcome, action);
}

/** The quantities in the order of the hold's items. A feature that is missing from the request's items counts as unused. */
function readQuantities(
  catalog: Catalog,
  { items }: Hold,
  { used }: Action<"settle">,
): readonly number[] | null | "hold_items_mismatch" {
  if (used === null) return null;
  if (typeof used === "number") return items.length === 1 ? [used] : "hold_items_mismatch";
  const byFeature = new Map(
    used.map(({ feature, quantity }) => [catalog.features.get(feature)?.id, quantity]),
  );
  const quantities = items.map(({ feature }) => byFeature.get(feature));
  const named = quantities.filter((quantity) => quantity !== undefined);
  if (named.length < used.length) return "hold_items_mismatch";
  return quantities.map((quantity) => quantity ?? 0);
}

function release(subject: Subject, action: Action<"release">): Result {
  const { catalog, found, wallet, hold, now, plan } = subject;
  const outcome = releaseHold(catalog, wallet, hold, now);
  if (outcome.kind === "hold_expired") {
    if (outcome.change !== null) plan.changes.add(found, outcome.change);
    return "hold_expired";
  }
  return end(subject, "released", { ...outcome, isLate: false }, action);
}

/** Plans the end of a hold, and stores the response for repeated requests. */
function end(
  { catalog, found, hold, now, plan }: Subject,
  status: "settled" | "released",
  { items, isLate, change }: { items: readonly SettledItem[]; isLate: boolean; change: Change },
  action: Action<"settle" | "release">,
): Result {
  const sequence = items.find(({ entry }) => entry !== null)?.entry?.sequence ?? null;
  const { customerNumber } = found;
  const id =
    sequence === null ? null : publicId("con", consumeId({ recordedAt: now, customerNumber, sequence }));
  const { wallet } = change;
  const closing = describeClosing(catalog, { status, hold, items, isLate, wallet, consumeId: id });
  const answer = JSON.stringify(closing);
  const metadata = action.kind === "settle" ? (action.metadata?.canonical ?? null) : null;
  const { number, memberId } = hold;
  plan.changes.add(found, change, {
    hold: { number, note: { keyHash: null, metadata, closing: { fingerprint: action.fingerprint, answer } } },
    ...(id === null ? {} : { entry: { kind: "consume", keyHash: null, memberId, metadata } }),
  });
  return { text: answer, reason: null };
}

function extend(
  { catalog, found, wallet, hold, now, plan }: Subject,
  { quantity, expiresAt }: Action<"extend">,
): Result {
  if (hold.items.length !== 1) return "hold_items_mismatch";
  const outcome = extendHold(catalog, wallet, { hold, quantity, expiresAt }, now);
  if (outcome.kind === "expires_too_late") return "hold_too_long";
  if (outcome.change !== null) plan.changes.add(found, outcome.change);
  if (outcome.kind === "hold_expired") return "hold_expired";
  const denial = outcome.kind === "denied" ? outcome : null;
  const extended = outcome.kind === "denied" ? hold : outcome.hold;
  const after = { denial, hold: extended, wallet: outcome.change?.wallet ?? wallet };
  return { text: JSON.stringify(describeExtension(catalog, after)), reason: denial?.reason ?? null };
}
