import { type Static, Type } from "typebox";
import { shareOf } from "../../entitlement/revoke-grant.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { findHeld, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import { type GrantRecord, listGrantRecords, sumLaterGrants } from "../../store/cell/grant-list.ts";
import { listGrantMoves } from "../../store/cell/grant-moves.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import { nullable, shownCustomerName, strictObject, timeField, timeOf, timeOrNull } from "../fields.ts";
import { CatalogNames } from "./catalog-names.ts";

export const priceField = strictObject({
  amount: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Amount in the currency's smallest unit.",
    examples: [4900],
  }),
  currency: Type.String({
    pattern: "^[A-Za-z]{3}$",
    description: "ISO 4217 code, upper or lower case.",
    examples: ["EUR"],
  }),
});

export const movedField = (description: string) =>
  nullable(
    Type.Object(
      {
        customerId: nullable(
          Type.String({ description: "Null if the customer was erased.", examples: ["customer_43"] }),
        ),
        customerName: shownCustomerName,
        grant: Type.Integer({ description: "Number of the other customer's grant.", examples: [3] }),
      },
      { description },
    ),
  );

export const Grant = Type.Object({
  grant: Type.Integer({ description: "Grant number, unique per customer.", examples: [7] }),
  kind: Type.Enum(["allowance", "purchase", "manual", "promotion"]),
  pool: Type.String({ examples: ["credits"] }),
  credits: Type.Integer({ description: "Granted credits.", examples: [500] }),
  remaining: Type.Integer({ description: "Credits that can still be spent.", examples: [120] }),
  held: Type.Integer({ description: "Credits that open holds set aside.", examples: [0] }),
  expiresAt: nullable(timeField),
  effectiveAt: timeOf(
    "When the credits were granted, as in the ledger. An allowance may be recorded later, with the customer's next request.",
    "2026-11-08T09:48:00.000Z",
  ),
  recordedAt: timeField,
  revokedAt: nullable(timeField),
  reference: nullable(Type.String({ examples: ["pi_3MtwBwLkdIwHu7ix"] })),
  price: nullable(priceField),
  note: nullable(Type.String({ examples: ["For the outage of 3 November"] })),
  movedFrom: movedField("The customer and grant that the credits were moved from."),
  movedTo: movedField("The customer and grant that the remaining credits were moved to."),
});

export type Grant = Static<typeof Grant>;

export type GrantPage = { readonly grants: readonly Grant[]; readonly next: number | null };

/**
 * Lists grants with a number below `before`, newest first, back to `since`. Older grants are listed only if they have credits
 * left, because these credits are part of the balance. Null if the customer does not exist.
 */
export function listGrants(
  cell: Pool,
  environmentId: EnvironmentId,
  customerId: CustomerId,
  page: { readonly before: number | null; readonly since: Instant | null; readonly limit: number },
): Promise<GrantPage | null> {
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const catalog = await loadCatalog(tx, environmentId);
    const wallet = viewWallet(catalog, customer.wallet, await readClock(tx));
    const name = { environmentId, customerNumber: customer.customerNumber };
    const newest = customer.wallet.grantCount + 1;
    // A forged cursor must not exceed the column's range.
    const before = page.before === null ? newest : Math.max(1, Math.min(page.before, newest));
    const since = page.since ?? BEFORE_ALL;
    const open = [...wallet.grants.map(({ number }) => number), ...wallet.held.map(({ grant }) => grant)];
    const found = await listGrantRecords(tx, name, { before, since, open, limit: page.limit + 1 });
    const shown = found.slice(0, page.limit);
    const later = before === newest ? new Map() : await sumLaterGrants(tx, name, before);
    const names = new CatalogNames(catalog);
    const moves = await readMoves(tx, name, shown);
    const grants = shown.flatMap((record) => {
      const share = takeShare(record, wallet, later);
      const isInSight = record.effectiveAt >= since || share.remaining + share.held > 0;
      return isInSight ? { ...describeGrant(record, names, share), ...moves(record.number) } : [];
    });
    return { grants, next: found.length > page.limit ? (shown.at(-1)?.number ?? null) : null };
  });
}

type Moves = Pick<Grant, "movedFrom" | "movedTo">;

async function readMoves(
  tx: Tx,
  name: WalletName,
  shown: readonly GrantRecord[],
): Promise<(grant: number) => Moves> {
  const numbers = shown.map(({ number }) => number);
  const moves = await listGrantMoves(tx, name, numbers);
  const { environmentId, customerNumber } = name;
  const others = moves.flatMap(({ fromCustomer, toCustomer }) => [fromCustomer, toCustomer]);
  const customers = moves.length === 0 ? new Map() : await mapCustomers(tx, environmentId, others);
  const describe = (customer: CustomerNumber, grant: number): Moves["movedTo"] => {
    const { customerId, customerName } = customers.get(customer) ?? NO_CUSTOMER;
    return { customerId, customerName, grant };
  };
  return (number) => {
    const out = moves.find((move) => move.fromCustomer === customerNumber && move.fromGrant === number);
    const into = moves.find((move) => move.toCustomer === customerNumber && move.toGrant === number);
    return {
      movedFrom: into === undefined ? null : describe(into.fromCustomer, into.fromGrant),
      movedTo: out === undefined ? null : describe(out.toCustomer, out.toGrant),
    };
  };
}

const BEFORE_ALL = brandAs<Instant>(0);

type Share = { readonly remaining: number; readonly held: number };

/**
 * Returns the remaining and held credits of a grant. Call this function for the newest grant first, because `later` accumulates the
 * credits of newer grants. Grants with the same slot are spent oldest first, so the newest credits remain and older credits are held.
 */
function takeShare(record: GrantRecord, wallet: Wallet, later: Map<number, number>): Share {
  const { slot, kind, credits, revokedAt } = record;
  if (revokedAt !== null && kind !== "allowance") return { remaining: 0, held: 0 };
  const left = wallet.grants.find(({ number }) => number === slot)?.remaining ?? 0;
  const { credits: set, revoked } = findHeld(wallet, slot) ?? { credits: 0, revoked: 0 };
  const of = (credited: number): number =>
    shareOf({ kind, credits }, { remaining: credited, later: later.get(slot) ?? 0 });
  const remaining = of(left);
  const held = of(left + set - revoked) - remaining;
  later.set(slot, (later.get(slot) ?? 0) + credits);
  return { remaining, held };
}

function describeGrant(
  record: GrantRecord,
  names: CatalogNames,
  { remaining, held }: Share,
): Omit<Grant, keyof Moves> {
  const { number, kind, credits, expiresAt, recordedAt, revokedAt, reference, price, note } = record;
  return {
    grant: number,
    kind,
    pool: names.pool(record.pool),
    credits,
    remaining,
    held,
    expiresAt: timeOrNull(expiresAt),
    effectiveAt: formatTimestamp(record.effectiveAt),
    recordedAt: formatTimestamp(recordedAt),
    revokedAt: timeOrNull(revokedAt),
    reference,
    price,
    note,
  };
}
