import { integers, texts, timestamps } from "../../postgres/binary-array.ts";
import type { Session } from "../../postgres/session.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type CustomerId, type CustomerNumber, type Instant } from "../../primitives/brand.ts";
import { insertAudits } from "../../store/cell/audit.ts";
import { type CustomerName, findCustomers, insertMissingCustomers } from "../../store/cell/customers.ts";
import { insertDenials } from "../../store/cell/denials.ts";
import { insertEvents } from "../../store/cell/events.ts";
import { insertKeyedRequests } from "../../store/cell/keyed-requests.ts";
import {
  addRequestCounts,
  insertRequestLog,
  type LoggedRequest,
  type RequestCount,
} from "../../store/cell/request-log.ts";
import { writeChanges } from "../../store/cell/wallet-changes.ts";
import { updateWallets } from "../../store/cell/wallets.ts";
import { DAY_MS, LOG_DAYS } from "./act.ts";
import type { Customer, Moment } from "./moment.ts";

export type NewCustomer = CustomerName & {
  readonly createdAt: Instant;
  readonly name: string;
  readonly email: string;
  readonly billingReference: string | null;
};

const DESCRIBE = statement(
  "demo.describe_customers",
  `
  update cell.customers as c
  set
    created_at = n.created_at,
    name = n.name,
    email = n.email,
    billing_reference = n.billing_reference
  from unnest($1::integer[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
    as n (environment_id, customer_id, created_at, name, email, billing_reference)
  where c.environment_id = n.environment_id
    and c.customer_id = n.customer_id`,
);

/** Inserts customers and returns them with their numbers. */
export async function writeCustomers(
  tx: Tx,
  customers: readonly NewCustomer[],
): Promise<Map<CustomerId, Customer>> {
  await insertMissingCustomers(tx, customers);
  await tx.run(DESCRIBE, [
    integers(customers.map(({ environmentId }) => environmentId)),
    texts(customers.map(({ customerId }) => customerId)),
    timestamps(customers.map(({ createdAt }) => createdAt)),
    texts(customers.map(({ name }) => name)),
    texts(customers.map(({ email }) => email)),
    texts(customers.map(({ billingReference }) => billingReference)),
  ]);
  const found = await findCustomers(tx, customers);
  return new Map(
    found.map(({ number, ...name }) => [
      name.customerId,
      { ...name, customerNumber: brandAs<CustomerNumber>(number) },
    ]),
  );
}

/** Writes one customer's history with its timestamps, and the final wallet. */
export async function writeMoments(
  session: Session,
  customer: Customer,
  moments: readonly Moment[],
): Promise<void> {
  const last = moments.at(-1);
  if (last === undefined) return;
  await session.roundTrip(() => [
    ...moments.flatMap((moment) => writeMoment(session, moment)),
    insertEvents(
      session,
      moments.flatMap(({ events }) => events),
    ),
    updateWallets(session, [{ ...customer, wallet: last.wallet }]),
  ]);
}

function writeMoment(tx: Tx, { at, changes, denials, keyedRequests, audits }: Moment): Promise<unknown>[] {
  return [
    ...writeChanges(tx, { ...changes, wallets: new Map() }, at),
    ...(denials.length > 0 ? [insertDenials(tx, denials, at)] : []),
    ...(keyedRequests.length > 0 ? [insertKeyedRequests(tx, keyedRequests, at)] : []),
    ...(audits.length > 0 ? [insertAudits(tx, audits)] : []),
  ];
}

const HOUR_MS = 3_600_000;

type Line = { readonly at: Instant; readonly logged: Omit<LoggedRequest, "ageMs"> };

/** Writes log rows that are recent enough to be kept. Writes them hour by hour, so that IDs are in order of time. */
export async function writeRequestLog(
  session: Session,
  moments: readonly Moment[],
  now: Instant,
): Promise<void> {
  const lines = moments
    .flatMap(({ at, logged }): Line[] => (logged === null ? [] : [{ at, logged }]))
    .filter(({ at }) => at >= now - LOG_DAYS * DAY_MS)
    .sort((a, b) => a.at - b.at);
  const hours = Map.groupBy(lines, ({ at }) => Math.floor(at / HOUR_MS));
  await session.roundTrip(() =>
    [...hours.values()].flatMap((hour) => {
      const endedAt = hour.at(-1)?.at ?? now;
      const requests = hour.map(({ at, logged }) => ({ ...logged, ageMs: endedAt - at }));
      return [
        insertRequestLog(session, requests, endedAt * 1000),
        addRequestCounts(session, countAll(requests), endedAt * 1000),
      ];
    }),
  );
}

function countAll(requests: readonly LoggedRequest[]): RequestCount[] {
  const groups = Map.groupBy(
    requests,
    ({ endpoint, code, reason }) => `${endpoint} ${code ?? reason ?? "ok"}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { environmentId, endpoint, code, reason } = first;
    return [{ environmentId, endpoint, outcome: code ?? reason ?? "ok", requests: group.length }];
  });
}
