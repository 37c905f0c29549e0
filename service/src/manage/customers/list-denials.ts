import { type Static, Type } from "typebox";
import { REASONS } from "../../entitlement/decide.ts";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type EnvironmentId,
  type Instant,
  type ProjectId,
} from "../../primitives/brand.ts";
import { parsePublicId, publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { type DenialRecord, listDenialRecords } from "../../store/cell/denials.ts";
import { type KeyUse, listKeyUses } from "../../store/cell/key-records.ts";
import {
  invalidField,
  nullable,
  shownMember,
  shownOverrides,
  timeField,
  timeOf,
  timeOrNull,
} from "../fields.ts";
import { CatalogNames, PlanName } from "./catalog-names.ts";
import { deniedItemsFields, describeDeniedItems } from "./denied-items.ts";

export const Denial = Type.Object({
  denialId: Type.String({ examples: ["den_01m7e9sv4w7w8rj0k3v3k4fb8p"] }),
  reason: Type.Enum([...REASONS]),
  feature: Type.String({ examples: ["image.generate"] }),
  quantity: Type.Integer({ examples: [3] }),
  creditsRequired: Type.Integer({
    description:
      "The price in credits. For a request with `items`, the total price of the denied item and all earlier items in the same pool.",
    examples: [30],
  }),
  balance: Type.Integer({
    description: "The balance of the feature's pool at the time of the denial.",
    examples: [12],
  }),
  limit: nullable(
    Type.Object({ quantity: Type.Integer({ examples: [5] }), used: Type.Integer({ examples: [5] }) }),
  ),
  resetsAt: nullable(timeOf("When the limit resets. If no limit was reached, when the allowance renews.")),
  plan: nullable(PlanName),
  overrides: shownOverrides,
  idempotencyKey: nullable(Type.String({ examples: ["render-7f3a"] })),
  memberId: shownMember,
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  ...deniedItemsFields,
  recordedAt: timeField,
});

export type Denial = Static<typeof Denial>;

export type DenialPage = { readonly denials: readonly Denial[]; readonly next: string | null };

/** Lists denials before the denial with the ID `before`, newest first, back to `since`. Null if the customer does not exist. */
export function listDenials(
  cell: Pool,
  scope: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  customerId: CustomerId,
  page: { readonly before: string | null; readonly since: Instant | null; readonly limit: number },
): Promise<DenialPage | null> {
  const { projectId, environmentId } = scope;
  const before = page.before === null ? AFTER_ALL : readPosition(page.before);
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const names = new CatalogNames(await loadCatalog(tx, environmentId));
    const name = { environmentId, customerNumber: customer.customerNumber };
    const found = await listDenialRecords(tx, name, {
      before,
      since: page.since ?? BEFORE_ALL,
      limit: page.limit + 1,
    });
    const shown = found.slice(0, page.limit);
    const keys = await listKeyUses(
      tx,
      { projectId, environmentId },
      shown.map(({ keyHash }) => keyHash),
    );
    const denials = shown.map((record) => describeDenial(record, names, keys));
    return { denials, next: found.length > page.limit ? (denials.at(-1)?.denialId ?? null) : null };
  });
}

const BEFORE_ALL = brandAs<Instant>(0);
const YEAR_9999 = 253_402_300_799_999;
const AFTER_ALL = { recordedAt: brandAs<Instant>(YEAR_9999), id: "f".repeat(32) };

/** Reads the position of a denial from its ID. The first 48 bits of the ID are the timestamp. */
function readPosition(denialId: string): typeof AFTER_ALL {
  const id = parsePublicId("den", denialId);
  if (id === null)
    throw invalidField({
      field: "cursor",
      code: "wrong_form",
      message: "is not a cursor from this list",
    });
  return { recordedAt: brandAs<Instant>(Math.min(id.readUIntBE(0, 6), YEAR_9999)), id: id.toString("hex") };
}

function describeDenial(
  record: DenialRecord,
  names: CatalogNames,
  keys: ReadonlyMap<string, KeyUse>,
): Denial {
  const { reason, quantity, creditsRequired, balance, limit, resetsAt, planVersion, metadata } = record;
  return {
    denialId: publicId("den", record.id),
    reason,
    feature: names.feature(record.feature),
    quantity,
    creditsRequired,
    balance,
    limit,
    resetsAt: timeOrNull(resetsAt),
    plan: planVersion === null ? null : names.plan(planVersion),
    overrides: record.overrides,
    idempotencyKey: keys.get(record.keyHash)?.key ?? null,
    memberId: record.memberId,
    metadata,
    ...describeDeniedItems(record),
    recordedAt: formatTimestamp(record.recordedAt),
  };
}
