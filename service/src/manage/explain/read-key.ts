import { type Asked, renderAnswer, UnknownAnswerFormat } from "../../entitlement/answer.ts";
import { getFeatureKey } from "../../entitlement/catalog.ts";
import { type ConsumptionItem, canonicalItems, parseItems } from "../../entitlement/consumption.ts";
import { hashKey, hashMember } from "../../entitlement/key-hash.ts";
import { firstReversed } from "../../entitlement/reversal.ts";
import { isAnswerToItems, type StoredAnswer } from "../../entitlement/stored-answer.ts";
import { viewHold } from "../../entitlement/view-hold.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerId,
  type EnvironmentId,
  type FeatureKey,
  type Instant,
  type Quantity,
} from "../../primitives/brand.ts";
import { readConsumeId } from "../../primitives/consume-id.ts";
import { readHoldId } from "../../primitives/hold-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { listChargesOfRequest } from "../../store/cell/charges.ts";
import { readClock } from "../../store/cell/clock.ts";
import { mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import { findDenial, nameDenial } from "../../store/cell/denials.ts";
import { findEvent } from "../../store/cell/event-list.ts";
import { findHoldRecord } from "../../store/cell/hold-list.ts";
import { findKeptRequest, type KeptRequest } from "../../store/cell/key-records.ts";
import { isWithin, type LogRecord, listLogRecords } from "../../store/cell/request-log-list.ts";
import type { Scope } from "../../store/control/scopes.ts";
import { timeOrNull } from "../fields.ts";
import { describeRequests } from "../requests/describe-request.ts";
import { type AskedBefore, differingFields } from "./compare-uses.ts";
import { describeSubject, type KeyStory, type Subject } from "./key-story.ts";

const USES_MAX = 50;

/** Describes how a key was used in this project, limited to what the caller may see. Null if the key was not used. */
export function readKey(
  cell: Pool,
  scope: Scope,
  {
    key,
    since,
    idempotencyDays,
    reachesOther,
  }: {
    readonly key: string;
    readonly since: Instant | null;
    readonly idempotencyDays: number | null;
    /** Whether the caller may see the project's other environment. */
    readonly reachesOther: boolean;
  },
): Promise<KeyStory | null> {
  return single(cell, async (tx) => {
    const { projectId, environmentId } = scope;
    const keyHash = hashKey(key);
    const kept = await findKeptRequest(tx, projectId, keyHash, idempotencyDays);
    const by = { column: "key_hash", value: keyHash } as const;
    const range = { by, before: null, after: null, limit: USES_MAX };
    const records = await listLogRecords(tx, environmentId, range);
    const logged = records.filter((record) => isWithin(record, since));
    const isElsewhere = kept !== null && kept.environmentId !== environmentId;
    // A key that expired in the other environment can be used in this one.
    if (kept === null || (isElsewhere && (kept.isEnded || !reachesOther))) {
      if (logged.length === 0) return null;
      const uses = await describeUses(tx, scope, logged, () => []);
      return { ...NOTHING, idempotencyKey: key, state: "not_kept", uses };
    }
    if (isElsewhere) {
      const uses = await describeUses(tx, scope, logged, () => ["environment"]);
      return { ...NOTHING, idempotencyKey: key, state: "other_environment", uses };
    }
    const subject = await findSubject(tx, environmentId, kept);
    if (timeOf(kept, subject) < (since ?? 0)) {
      const uses = await describeUses(tx, scope, logged, () => []);
      return { ...NOTHING, idempotencyKey: key, state: stateOf(kept), uses };
    }
    return describeKept(tx, scope, { key, kept, subject, logged });
  });
}

async function describeKept(
  tx: Tx,
  scope: Scope,
  found: {
    readonly key: string;
    readonly kept: KeptRequest;
    readonly subject: Subject | null;
    readonly logged: readonly LogRecord[];
  },
): Promise<KeyStory> {
  const { key, kept, subject, logged } = found;
  const number = subject?.row.customerNumber;
  const customers = await mapCustomers(tx, scope.environmentId, number === undefined ? [] : [number]);
  const customer = (number === undefined ? undefined : customers.get(number)) ?? NO_CUSTOMER;
  const { customerId } = customer;
  const asked = subject === null ? null : toAsked(key, kept, subject, customerId);
  return {
    idempotencyKey: key,
    state: stateOf(kept),
    endpoint: kept.endpoint,
    recordedAt: formatTimestamp(kept.recordedAt),
    ...customer,
    answer: renderKept(kept, subject, customerId),
    ...describeSubject(subject),
    uses: await describeUses(tx, scope, logged, (use) => (asked === null ? [] : differingFields(asked, use))),
  };
}

/**
 * The time to compare with the start of the history window. For an event, this is `occurredAt`. If the event's month is detached,
 * `occurredAt` is unknown, and 0 puts the event outside every window.
 */
function timeOf({ endpoint, recordedAt }: KeptRequest, subject: Subject | null): Instant {
  if (endpoint !== "events") return recordedAt;
  return subject?.kind === "event" ? subject.row.occurredAt : brandAs<Instant>(0);
}

function stateOf({ isEnded }: KeptRequest): "kept" | "ended" {
  return isEnded ? "ended" : "kept";
}

const NOTHING = {
  endpoint: null,
  recordedAt: null,
  ...NO_CUSTOMER,
  answer: null,
  charge: null,
  charges: [],
  denial: null,
  hold: null,
  event: null,
};

/** Finds the record that the response describes. Null if the record's month is detached. */
async function findSubject(
  tx: Tx,
  environmentId: EnvironmentId,
  { endpoint, answer }: KeptRequest,
): Promise<Subject | null> {
  const { subjectId, verdict } = answer;
  if (endpoint === "events") {
    const row = await findEvent(tx, environmentId, subjectId);
    return row === null ? null : { kind: "event", row };
  }
  if (verdict?.reason === null && endpoint === "holds") return findOpened(tx, environmentId, subjectId);
  if (verdict?.reason === null) {
    const rows = await listChargesOfRequest(tx, environmentId, readConsumeId(subjectId));
    const [row] = rows;
    return row === undefined ? null : { kind: "charge", row, rows };
  }
  const row = await findDenial(tx, environmentId, nameDenial(subjectId));
  return row === null ? null : { kind: "denial", row };
}

/** Finds the hold that the request opened. */
async function findOpened(tx: Tx, environmentId: EnvironmentId, id: Uuid): Promise<Subject | null> {
  const name = readHoldId(id);
  const { customerNumber } = name;
  const record = await findHoldRecord(tx, { environmentId, ...name });
  if (record === null) return null;
  const catalog = await loadCatalog(tx, environmentId);
  const { hold, opened, metadata } = record;
  const { memberId, onExpiry } = hold;
  const items = opened.map(({ feature, quantity }) => ({
    feature: getFeatureKey(catalog, feature),
    quantity: brandAs<Quantity>(quantity),
  }));
  const duration = { expiresInMs: record.firstExpiresAt - hold.openedAt, onExpiry };
  const view = viewHold(record, { catalog, customerNumber, now: await readClock(tx) });
  return { kind: "hold", row: { customerNumber, items, duration, memberId, metadata }, view };
}

/** Renders the original response, without the customer ID if the customer was erased. */
function renderKept(
  { answer, endpoint }: KeptRequest,
  subject: Subject | null,
  customerId: CustomerId | null,
): Record<string, unknown> | null {
  if (endpoint === "events") return render(answer, null);
  if (subject === null || subject.kind === "event") return null;
  const asked: Asked = {
    customerId: customerId ?? brandAs<CustomerId>(""),
    items: itemsOf(subject),
    hasItems: isAnswerToItems(answer),
  };
  const rendered = render(answer, asked);
  return rendered === null ? null : { ...rendered, customerId };
}

/** The features and quantities that the request asked for. */
function itemsOf(subject: Exclude<Subject, { kind: "event" }>): readonly ConsumptionItem[] {
  if (subject.kind === "hold") return subject.row.items;
  if (subject.kind === "denial" && subject.row.request !== null) return parseItems(subject.row.request.items);
  const rows = subject.kind === "charge" ? subject.rows : [subject.row];
  return rows.map(({ feature, quantity }) => ({
    feature: brandAs<FeatureKey>(feature),
    quantity: brandAs<Quantity>(quantity),
  }));
}

/** Renders a stored response. Null if it was written by a newer release during a rollout. */
function render(answer: StoredAnswer, asked: Asked | null): Record<string, unknown> | null {
  try {
    return JSON.parse(renderAnswer(answer, asked));
  } catch (error) {
    if (error instanceof UnknownAnswerFormat) return null;
    throw error;
  }
}

function toAsked(
  key: string,
  kept: KeptRequest,
  subject: Subject,
  customerId: CustomerId | null,
): AskedBefore {
  const { endpoint, answer } = kept;
  const { customerNumber, memberId, metadata } = subject.row;
  const isErased = customerId === null;
  const memberHash = memberId === null ? null : hashMember(key, memberId);
  const shared = { endpoint, customerNumber, isErased, memberHash, metadata };
  if (subject.kind === "event") {
    const { event, quantity, occurredAt, recordedAt } = subject.row;
    const timestamp = occurredAt === recordedAt ? null : occurredAt;
    return { ...shared, subject: event, quantity, items: null, duration: null, timestamp };
  }
  if (endpoint === "consume/reverse") {
    // The stored member and metadata belong to the charge, not to the reversal.
    const { feature, quantity } = firstReversed(answer);
    const own = { memberHash: null, metadata: null, items: null, duration: null, timestamp: null };
    return { ...shared, ...own, subject: feature, quantity };
  }
  const asked = itemsOf(subject);
  const items = isAnswerToItems(answer) ? canonicalItems(asked) : null;
  const { feature, quantity } = subject.kind === "hold" ? firstOf(asked) : subject.row;
  const duration = subject.kind === "hold" ? subject.row.duration : null;
  return { ...shared, subject: feature, quantity, items, duration, timestamp: null };
}

function firstOf(items: readonly ConsumptionItem[]): ConsumptionItem {
  const [first] = items;
  assert(first !== undefined, "a request has at least one item");
  return first;
}

async function describeUses(
  tx: Tx,
  scope: Scope,
  logged: readonly LogRecord[],
  differsIn: (use: LogRecord) => string[],
): Promise<KeyStory["uses"]> {
  const described = await describeRequests(tx, scope, logged);
  return described.map((request, index) => {
    const use = logged[index];
    if (use === undefined || use.refused === null) return { ...request, refused: null };
    const { quantity, timestamp } = use.refused;
    return {
      ...request,
      refused: {
        differs: differsIn(use),
        quantity,
        timestamp: timeOrNull(timestamp),
      },
    };
  });
}
