import type { StoredAnswer } from "../../entitlement/answer.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Lacking } from "../../postgres/lacking.ts";
import type { AssignmentRow } from "../../store/cell/assignments.ts";
import {
  type Customer,
  type CustomerName,
  customerKey,
  type NewCustomer,
} from "../../store/cell/customers.ts";
import type { DenialRow } from "../../store/cell/denials.ts";
import type { EventName, EventRow } from "../../store/cell/events.ts";
import type { GrantRow } from "../../store/cell/grants.ts";
import type { FoundKey, KeyedRequest, KeyName } from "../../store/cell/keyed-requests.ts";
import type { LedgerRow } from "../../store/cell/ledger.ts";
import type { ChangedWallet, FoundWallet, WalletName } from "../../store/cell/wallets.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../words/brand.ts";
import { decideConsume } from "./decide-consume.ts";
import { decideUsageEvent } from "./decide-event.ts";
import type { KeyConflict, Outcome, Pending, RuntimeRequest, Undecided } from "./request.ts";

/** What the database said in the first trip, and the catalogs of the revisions it named, or that they are not in memory. */
export type BatchFacts = {
  readonly wallets: readonly FoundWallet[];
  readonly keyedRequests: readonly FoundKey[];
  readonly storedEvents: ReadonlySet<EventName>;
  readonly customers: readonly Customer[];
  /** Numbers for customers nobody knows, in case this batch makes them known. */
  readonly newcomers: ReadonlyMap<string, CustomerNumber>;
  readonly catalogs: ReadonlyMap<EnvironmentId, Catalog | Lacking>;
  readonly now: Instant;
};

/** What is to be written, all at once, and what each caller hears once it is. */
export class BatchPlan {
  readonly outcomes: (Outcome | Undecided)[] = [];
  readonly ledger: LedgerRow[] = [];
  readonly grants: GrantRow[] = [];
  readonly assignments: AssignmentRow[] = [];
  readonly denials: DenialRow[] = [];
  readonly events: EventRow[] = [];
  readonly keyedRequests: KeyedRequest[] = [];
  /** What stands where new ones are to stand. */
  endedKeys: readonly KeyName[] = [];
  /** Made known by a consume, under a number that its ledger needs at once. */
  readonly newCustomers = new Map<string, NewCustomer>();
  /** Made known by events alone: whoever makes them first, the number is looked up. */
  readonly reporters = new Map<string, CustomerName>();
  /** Of customers who were known and had none. */
  readonly newWallets: WalletName[] = [];
  readonly wallets: ReadonlyMap<string, FoundWallet>;
  /** As decided so far: the next request of the same customer starts from here. */
  readonly changedWallets = new Map<string, ChangedWallet>();

  /** Of the customers that exist. */
  readonly numbers: ReadonlyMap<string, number>;

  constructor({ wallets, customers }: BatchFacts) {
    this.wallets = new Map(wallets.map((wallet) => [customerKey(wallet), wallet]));
    this.numbers = new Map(customers.map((customer) => [customerKey(customer), customer.number]));
  }

  /** Under its key, if it has one: a copy later in the batch meets it there. */
  remember(request: RuntimeRequest, answer: StoredAnswer): void {
    const { keyed, environmentId, endpoint } = request;
    if (keyed !== null) this.keyedRequests.push({ ...keyed, environmentId, endpoint, answer });
  }
}

/** Settles requests in arrival order. A copy of a key in the same batch meets its original in `answered`. */
export function decideBatch(batch: readonly Pending[], facts: BatchFacts): BatchPlan {
  const plan = new BatchPlan(facts);
  const answered = new Map<string, KeyedRequest>();
  for (const found of facts.keyedRequests) if (!found.isEnded) answered.set(keyId(found), found);
  for (const pending of batch) {
    const { keyed } = pending.request;
    const key = keyed === null ? null : keyId(keyed);
    const earlier = key === null ? undefined : answered.get(key);
    if (earlier !== undefined) {
      plan.outcomes.push(answerAgain(pending, earlier));
      continue;
    }
    const count = plan.keyedRequests.length;
    plan.outcomes.push(decideNew(pending, facts, plan));
    const stored = plan.keyedRequests[count];
    if (key !== null && stored !== undefined) answered.set(key, stored);
  }
  const isTaken = (ended: FoundKey): boolean => ended.isEnded && answered.has(keyId(ended));
  plan.endedKeys = facts.keyedRequests.filter(isTaken);
  return plan;
}

function decideNew(pending: Pending, facts: BatchFacts, plan: BatchPlan): Outcome | Undecided {
  const { request } = pending;
  return request.endpoint === "events"
    ? decideUsageEvent(request, pending, facts, plan)
    : decideConsume(request, pending, facts, plan);
}

/** By its hash, as in the table: of an erased customer's key the text is gone. */
export function keyId(key: KeyName): string {
  return `${key.projectId}:${key.keyHash}`;
}

/** Spec 4.1: the same request gets the original answer; any other gets 409 and learns nothing of it. */
function answerAgain(pending: Pending, earlier: KeyedRequest): Outcome {
  const conflict = findConflict(pending.request, earlier);
  if (conflict !== null) return { kind: "key_reused", conflict };
  // After an unknown outcome the row may be our own: then this is the first answer, not a replay.
  const isOwn = pending.name?.id.equals(earlier.answer.subjectId) ?? false;
  return { kind: "answered", answer: earlier.answer, replayed: !isOwn };
}

function findConflict(request: RuntimeRequest, earlier: KeyedRequest): KeyConflict | null {
  if (request.endpoint !== earlier.endpoint) return "endpoint";
  if (request.environmentId !== earlier.environmentId) return "environment";
  if (request.keyed?.fingerprint !== earlier.fingerprint) return "payload";
  return null;
}
