import { canonicalItems } from "../../entitlement/consumption.ts";
import { type Decided, decide, type Reason } from "../../entitlement/decide.ts";
import { exceededLimit } from "../../entitlement/metadata.ts";
import { holdCredits } from "../../entitlement/open-hold.ts";
import { storeAnswer, storeHoldAnswer } from "../../entitlement/stored-answer.ts";
import { newWallet, type Wallet } from "../../entitlement/wallet.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";
import { consumeId } from "../../primitives/consume-id.ts";
import { holdId } from "../../primitives/hold-id.ts";
import { type Uuid, uuidV7 } from "../../primitives/uuid.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { Annotation } from "../../store/cell/wallet-changes.ts";
import type { FoundWallet } from "../../store/cell/wallets.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import { refuse, withCatalog } from "./decide-one.ts";
import type { Pending } from "./pending.ts";
import { type ConsumeRequest, LOCKED, needsNewFormat, type Outcome, type Undecided } from "./request.ts";

/** Denials that are not stored under the key, so that a client can retry a request that arrived before the plan was assigned. */
const PASSING_REASONS: ReadonlySet<Reason | null> = new Set(["customer_not_found", "no_active_plan"]);

/** Decides a consume or hold request with a new key. Uses the wallet as earlier requests in this batch left it. */
export function decideConsume(
  request: ConsumeRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome | Undecided {
  const { environmentId, consumption, duration } = request;
  const exceeded = exceededLimit(consumption.metadata, request.metadataLimits);
  if (exceeded !== null) return refuse(pending, exceeded);
  const { hasNewFormats, now } = facts;
  if (!hasNewFormats && needsNewFormat(request)) return refuse(pending, { kind: "upgrade_unfinished" });
  const key = customerKey(request);
  const found = plan.wallets.get(key) ?? findNewCustomer(request, facts);
  if (found !== undefined && found.readWallet === null && !found.isMissing) return LOCKED;

  const isKnown = plan.wallets.has(key);
  // If an identity sequence lags behind the existing rows, a reserved number may belong to another customer. Only the insert proves that
  // the number is free.
  const hasNumber = isKnown || plan.newCustomers.has(key);
  const wallet = found === undefined || !hasNumber ? null : plan.readWallet(found);
  const known = wallet ?? (isKnown ? newWallet(now) : null);
  const decision = withCatalog(facts, environmentId, (catalog) => {
    const { items: requested, memberId } = consumption;
    if (duration === null) return decide(catalog, known, requested, now);
    return holdCredits(catalog, known, { requested, terms: { ...duration, memberId } }, now);
  });
  if (decision.kind === "missing_data") return decision;
  if (decision.kind !== "decided") return refuse(pending, decision);
  if (found !== undefined) applyChange(request, decision, found, plan);
  const isPassing = found === undefined || PASSING_REASONS.has(decision.reason);
  const subjectId = decision.allowed ? nameTaken(decision, found, now) : uuidV7(now);
  const answer =
    duration === null
      ? storeAnswer(consumption, decision, { subjectId, hasNewFormats })
      : storeHoldAnswer(consumption, decision, subjectId);
  if (isPassing) return refuse(pending, { kind: "answered", answer, replayed: false });
  if (!decision.allowed) plan.denials.push(toDenial(request, decision, found, { id: subjectId, wallet }));
  pending.name = { recordedAt: now, id: subjectId };
  plan.remember(request, answer);
  return { kind: "answered", answer, replayed: false };
}

/** Finds the number reserved for an unknown customer whom this transaction creates with the default plan. */
function findNewCustomer(request: ConsumeRequest, { reservedNumbers }: BatchFacts): FoundWallet | undefined {
  const customerNumber = reservedNumbers.get(customerKey(request));
  if (customerNumber === undefined) return undefined;
  const { environmentId, customerId } = request;
  const nothing = {
    readWallet: null,
    isMissing: true,
    holdsUntil: Number.POSITIVE_INFINITY,
    decidedAt: null,
  };
  return { environmentId, customerId, customerNumber, ...nothing };
}

/** Plans the changes to the wallet. Due changes, such as a renewal, are written even if the request is denied. */
function applyChange(request: ConsumeRequest, decision: Decided, found: FoundWallet, plan: BatchPlan): void {
  if (decision.change === null) return;
  const key = customerKey(found);
  if (!plan.wallets.has(key)) plan.newCustomers.set(key, found);
  else if (found.isMissing && !plan.changes.wallets.has(found.customerNumber)) plan.newWallets.push(found);
  plan.changes.add(found, decision.change, decision.allowed ? annotate(request, decision) : {});
}

function annotate({ keyed: { keyHash }, consumption }: ConsumeRequest, { hold }: Decided): Annotation {
  const { memberId } = consumption;
  const metadata = consumption.metadata?.canonical ?? null;
  if (hold === null) return { entry: { kind: "consume", keyHash, memberId, metadata } };
  return { hold: { number: hold.number, note: { keyHash, metadata, closing: null } } };
}

/** The ID of the hold or charge. A charge's ID is derived from its first ledger entry. */
function nameTaken({ items, hold }: Decided, found: FoundWallet | undefined, recordedAt: Instant): Uuid {
  assert(found !== undefined, "an allowed request has a wallet");
  const { customerNumber } = found;
  if (hold !== null) return holdId({ ...hold, customerNumber });
  const entry = items[0]?.entry ?? null;
  assert(entry !== null, "an allowed consume request has an entry");
  return consumeId({ recordedAt, customerNumber, sequence: entry.sequence });
}

function toDenial(
  request: ConsumeRequest,
  decision: Decided,
  found: FoundWallet,
  { id, wallet: before }: { id: Uuid; wallet: Wallet | null },
): DenialRow {
  const { reason, deniedItem, planVersion, change } = decision;
  const { hasItems, memberId, metadata } = request.consumption;
  const wallet = change?.wallet ?? before;
  const item = deniedItem === null ? undefined : decision.items[deniedItem];
  const position = item?.before ?? null;
  assert(
    reason !== null && item !== undefined && position !== null && wallet !== null,
    "a denial has a reason, an item and a wallet",
  );
  return {
    environmentId: found.environmentId,
    customerNumber: found.customerNumber,
    id,
    sequence: wallet.sequence,
    creditsRequired: Math.min(Number.MAX_SAFE_INTEGER, item.creditsBefore + item.creditsRequired),
    position,
    keyHash: request.keyed.keyHash,
    feature: item.feature.id,
    quantity: item.quantity,
    request: hasItems
      ? { deniedItem: deniedItem ?? 0, items: canonicalItems(request.consumption.items) }
      : null,
    planVersion,
    overrides: item.overrides,
    reason,
    memberId,
    metadata: metadata?.canonical ?? null,
  };
}
