import { ANSWER_FORMAT_CONSUME } from "../../entitlement/answer.ts";
import { type Decision, decide, type Reason } from "../../entitlement/decide.ts";
import { exceededLimit } from "../../entitlement/metadata.ts";
import { newWallet, type Wallet } from "../../entitlement/wallet.ts";
import { Lacking } from "../../postgres/lacking.ts";
import { customerKey } from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { FoundWallet } from "../../store/cell/wallets.ts";
import { assert } from "../../words/assert.ts";
import type { Instant } from "../../words/brand.ts";
import { consumeId } from "../../words/consume-id.ts";
import { type Uuid, uuidV7 } from "../../words/uuid.ts";
import type { BatchFacts, BatchPlan } from "./batch-plan.ts";
import { type ConsumeRequest, HELD, type Outcome, type Pending, type Undecided } from "./request.ts";

type Decided = Extract<Decision, { kind: "decided" }>;

/** A consume that overtook its customer's provisioning must not stay denied: these are not kept under the key. */
const PASSING_REASONS: ReadonlySet<Reason | null> = new Set(["customer_not_found", "no_active_plan"]);

/** Decides a consume whose key is new, on the wallet as the requests before it in this batch have left it. */
export function decideConsume(
  request: ConsumeRequest,
  pending: Pending,
  facts: BatchFacts,
  plan: BatchPlan,
): Outcome | Undecided {
  const { environmentId, consumption } = request;
  const exceeded = exceededLimit(consumption.metadata, request.metadataLimits);
  if (exceeded !== null) return refuse(pending, exceeded);
  const catalog = facts.catalogs.get(environmentId);
  assert(catalog !== undefined, "a batch reads the catalog of each of its environments");
  if (catalog instanceof Lacking) return { kind: "lacking", lacking: catalog };
  const key = customerKey(request);
  const found = plan.wallets.get(key) ?? findNewcomer(request, facts);
  if (found !== undefined && found.readWallet === null && !found.isMissing) return HELD;

  const wallet = plan.changedWallets.get(key)?.wallet ?? found?.readWallet?.() ?? null;
  const isKnown = plan.wallets.has(key);
  const known = wallet ?? (isKnown ? newWallet(facts.now) : null);
  const decision = orLacking(() => decide(catalog, known, consumption, facts.now));
  if (decision.kind === "lacking") return decision;
  if (decision.kind !== "decided") return refuse(pending, decision);
  if (found !== undefined) applyChange(request, decision, found, plan);
  const { reason, creditsRequired, after: position } = decision;
  const isPassing = found === undefined || PASSING_REASONS.has(reason);
  const id = decision.allowed ? nameConsume(decision, found, facts.now) : uuidV7(facts.now);
  const verdict = { reason, creditsRequired, position };
  const answer = { format: ANSWER_FORMAT_CONSUME, subjectId: id, verdict };
  if (isPassing) return refuse(pending, { kind: "answered", answer, replayed: false });
  if (!decision.allowed) plan.denials.push(toDenial(request, decision, found, { id, wallet }));
  pending.name = { recordedAt: facts.now, id };
  plan.remember(request, answer);
  return { kind: "answered", answer, replayed: false };
}

/** What a plan's version has pinned may not be in memory. */
export function orLacking<T>(work: () => T): T | Exclude<Undecided, typeof HELD> {
  try {
    return work();
  } catch (error) {
    if (error instanceof Lacking) return { kind: "lacking", lacking: error };
    throw error;
  }
}

/** Nothing is stored for it, so an earlier attempt that may still land would contradict it. */
function refuse(pending: Pending, outcome: Outcome): Outcome {
  return pending.isUncertain ? { kind: "outcome_unknown" } : outcome;
}

/** Somebody nobody knows, who has the default plan: made known together with what is decided, or not at all. */
function findNewcomer(request: ConsumeRequest, { newcomers }: BatchFacts): FoundWallet | undefined {
  const customerNumber = newcomers.get(customerKey(request));
  if (customerNumber === undefined) return undefined;
  const { environmentId, customerId } = request;
  return { environmentId, customerId, customerNumber, readWallet: null, isMissing: true };
}

/** What was due is written even when the answer is no; the charge is one of the entries. */
function applyChange(
  { keyed, consumption }: ConsumeRequest,
  { change, entry: charge }: Decided,
  found: FoundWallet,
  plan: BatchPlan,
): void {
  if (change === null) return;
  const { environmentId, customerId, customerNumber } = found;
  const name = { environmentId, customerNumber };
  const key = customerKey(found);
  if (!plan.wallets.has(key)) plan.newCustomers.set(key, { ...name, customerId });
  else if (found.isMissing && !plan.changedWallets.has(key)) plan.newWallets.push(name);
  plan.changedWallets.set(key, { ...name, wallet: change.wallet });
  for (const entry of change.entries) {
    const isCharge = entry === charge;
    const keyHash = isCharge ? keyed.keyHash : null;
    const metadata = isCharge ? (consumption.metadata?.canonical ?? null) : null;
    plan.ledger.push({ ...name, entry, keyHash, metadata });
  }
  for (const grant of change.grants) plan.grants.push({ ...name, grant, origin: null });
  for (const assignment of change.assignments) plan.assignments.push({ ...name, change: assignment });
}

function nameConsume({ entry }: Decided, found: FoundWallet | undefined, recordedAt: Instant): Uuid {
  assert(entry !== null && found !== undefined, "an allowed consume has its entry in a wallet");
  return consumeId({ recordedAt, customerNumber: found.customerNumber, sequence: entry.sequence });
}

function toDenial(
  request: ConsumeRequest,
  decision: Decided,
  found: FoundWallet,
  { id, wallet: before }: { id: Uuid; wallet: Wallet | null },
): DenialRow {
  const { reason, after: position, creditsRequired, feature, planVersion, change } = decision;
  const wallet = change?.wallet ?? before;
  assert(reason !== null && position !== null && wallet !== null, "a denial has a reason and a wallet");
  return {
    environmentId: found.environmentId,
    customerNumber: found.customerNumber,
    id,
    sequence: wallet.sequence,
    creditsRequired,
    position,
    keyHash: request.keyed.keyHash,
    feature: feature.id,
    quantity: request.consumption.quantity,
    planVersion,
    reason,
    metadata: request.consumption.metadata?.canonical ?? null,
  };
}
