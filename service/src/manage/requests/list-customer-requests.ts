import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, Instant } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { type Charge, listCharges } from "../../store/cell/charges.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { type Denial, type DenialName, listDenials } from "../../store/cell/denials.ts";
import { listKeyUses } from "../../store/cell/key-records.ts";
import { type LogRecord, listLogRecords } from "../../store/cell/request-log-list.ts";
import type { Scope } from "../../store/control/scopes.ts";
import { nullable } from "../fields.ts";
import { requestFields } from "./describe-request.ts";

export const CustomerRequest = Type.Object({
  kind: Type.Enum(["charge", "denial", "logged"], {
    description:
      "`charge` and `denial` are permanent; `logged` is from the request log, which covers the last 7 days.",
  }),
  id: Type.String({ examples: ["con_06fd5n0r000000000a00000001"] }),
  ...requestFields,
  quantity: nullable(Type.Integer({ description: "Null for logged requests.", examples: [1] })),
  credits: nullable(
    Type.Integer({
      description: "Credits charged, or credits that a denied request required.",
      examples: [10],
    }),
  ),
  balance: nullable(
    Type.Integer({ description: "Balance after the charge, or at the denial.", examples: [90] }),
  ),
  memberId: nullable(
    Type.String({
      description:
        "The customer's member that the request named. Null if it named none, and for logged requests.",
      examples: ["user_7"],
    }),
  ),
  reversedQuantity: nullable(
    Type.Integer({ description: "The quantity reversed so far. Set only for charges.", examples: [0] }),
  ),
});

export type CustomerRequest = Static<typeof CustomerRequest>;

/** A position in each of the three sources. */
export type CustomerRequestCursor = {
  readonly charge: number;
  readonly denial: DenialName;
  readonly logged: Uuid | null;
};

type Found =
  | { readonly kind: "charge"; readonly at: Instant; readonly row: Charge }
  | { readonly kind: "denial"; readonly at: Instant; readonly row: Denial }
  | { readonly kind: "logged"; readonly at: Instant; readonly row: LogRecord };

/** Log rows read for one page. Most are charges and denials, which are listed from their own tables instead. */
const LOGGED_MAX = 1_000;

/** Lists charges, denials and other logged requests, newest first. Null if the customer does not exist. */
export function listCustomerRequests(
  cell: Pool,
  scope: Scope,
  customerId: CustomerId,
  page: { readonly from: CustomerRequestCursor; readonly limit: number; readonly since: Instant | null },
): Promise<{ items: CustomerRequest[]; next: CustomerRequestCursor | null } | null> {
  return single(cell, async (tx) => {
    const { environmentId } = scope;
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const { customerNumber } = customer;
    const name = { environmentId, customerNumber };
    const { from, limit, since } = page;
    const charges = await listCharges(tx, name, { before: from.charge, limit: limit + 1 });
    const denials = await listDenials(tx, name, { before: from.denial, limit: limit + 1 });
    const logged = await listLogRecords(tx, environmentId, {
      by: { column: "customer_number", value: customerNumber },
      before: from.logged,
      after: null,
      limit: LOGGED_MAX,
    });
    const others = logged.filter((record) => isNowhereElse(record) && isInSight(record, since));
    const isMoreLogged = logged.length === LOGGED_MAX;
    const end = isMoreLogged ? (logged.at(-1) ?? null) : null;
    const merged = merge({ charges, denials, others }, limit, end?.recordedAt ?? null);
    const found = merged.filter(({ at }) => since === null || at >= since);
    // The list ends at the history window.
    if (found.length < merged.length) return { items: await describe(tx, scope, found), next: null };
    const count = charges.length + denials.length + others.length;
    const isThrough = found.filter(({ kind }) => kind === "logged").length === others.length;
    const next = found.length === count && end === null ? null : advance(from, found, isThrough ? end : null);
    return { items: await describe(tx, scope, found), next };
  });
}

/**
 * Whether the event occurred within the history window. A late event is skipped, but unlike other rows before the window it does
 * not end the list.
 */
function isInSight({ occurredAt }: LogRecord, since: Instant | null): boolean {
  return occurredAt === null || occurredAt >= (since ?? 0);
}

/**
 * Whether the request is only in the log. Charges and settlements are in the ledger, and denials are stored, except for two of them
 * and for extensions of holds.
 */
function isNowhereElse({ endpoint, code, reason, isReplay }: LogRecord): boolean {
  if (code !== null || isReplay) return true;
  if (reason === "customer_not_found" || reason === "no_active_plan") return true;
  if (endpoint === "holds") return reason === null;
  return endpoint !== "consume" && endpoint !== "holds/settle";
}

/**
 * Merges the sources, newest first. Each source keeps its own order. Stops below `floor`, the oldest log row that was read, because
 * unread log rows may come next.
 */
function merge(
  { charges, denials, others }: { charges: Charge[]; denials: Denial[]; others: LogRecord[] },
  limit: number,
  floor: Instant | null,
): Found[] {
  const sources: Found[][] = [
    charges.map((row) => ({ kind: "charge", at: row.recordedAt, row })),
    denials.map((row) => ({ kind: "denial", at: row.recordedAt, row })),
    others.map((row) => ({ kind: "logged", at: row.recordedAt, row })),
  ];
  const merged: Found[] = [];
  while (merged.length < limit) {
    const fronts = sources.filter(([front]) => front !== undefined);
    const source = fronts.sort(([a], [b]) => (b?.at ?? 0) - (a?.at ?? 0))[0];
    const isLogThrough = sources[2]?.length === 0;
    const [next] = source ?? [];
    if (next === undefined || (isLogThrough && floor !== null && next.at < floor)) break;
    merged.push(next);
    source?.shift();
  }
  return merged;
}

function advance(
  from: CustomerRequestCursor,
  found: readonly Found[],
  lastLogged: LogRecord | null,
): CustomerRequestCursor {
  let { charge, denial, logged } = from;
  for (const { kind, row } of found) {
    if (kind === "charge") charge = row.sequence;
    else if (kind === "denial") denial = row;
    else logged = row.id;
  }
  return { charge, denial, logged: lastLogged?.id ?? logged };
}

async function describe(tx: Tx, scope: Scope, found: readonly Found[]): Promise<CustomerRequest[]> {
  const hashes = found.flatMap(({ row }) => row.keyHash ?? []);
  const keys = await listKeyUses(tx, scope, hashes);
  return found.map((one) => {
    const { keyHash } = one.row;
    const shared = {
      recordedAt: formatTimestamp(one.at),
      idempotencyKey: keyHash === null ? null : (keys.get(keyHash)?.key ?? null),
    };
    const isOfHold = keyHash !== null && keys.get(keyHash)?.endpoint === "holds";
    return { ...shared, ...describeOne(one, isOfHold) };
  });
}

type Own = Omit<CustomerRequest, "recordedAt" | "idempotencyKey">;

const DECIDED = { status: 200, code: null, isReplay: false, event: null } as const;

function describeOne({ kind, row }: Found, isOfHold: boolean): Own {
  if (kind === "logged") {
    const isEvent = row.endpoint === "events";
    return {
      kind,
      id: publicId("log", row.id),
      endpoint: row.endpoint,
      status: row.status,
      code: row.code,
      reason: row.reason,
      isReplay: row.isReplay,
      feature: isEvent ? null : row.subject,
      event: isEvent ? row.subject : null,
      quantity: null,
      credits: null,
      balance: null,
      memberId: null,
      reversedQuantity: null,
    };
  }
  const { feature, quantity, memberId } = row;
  if (kind === "charge") {
    const { id, credits, balanceAfter, reversedQuantity } = row;
    const amounts = { quantity, credits, balance: balanceAfter, reversedQuantity };
    const endpoint = row.hold === null ? "consume" : "holds/settle";
    return {
      kind,
      id: publicId("con", id),
      endpoint,
      ...DECIDED,
      reason: null,
      feature,
      memberId,
      ...amounts,
    };
  }
  const { id, reason, creditsRequired, balance } = row;
  const amounts = { quantity, credits: creditsRequired, balance, reversedQuantity: null };
  const endpoint = isOfHold ? "holds" : "consume";
  return { kind, id: publicId("den", id), endpoint, ...DECIDED, reason, feature, memberId, ...amounts };
}
