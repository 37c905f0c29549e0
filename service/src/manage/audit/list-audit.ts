import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type CustomerNumber } from "../../primitives/brand.ts";
import { type AuditSource, findCustomerNumbers, scanAudit } from "../../store/cell/audit.ts";
import { listNotes } from "../../store/cell/audit-entries.ts";
import { findCustomerIds, NO_CUSTOMER, type ShownCustomer } from "../../store/cell/customers.ts";
import {
  type AuditFilter,
  type AuditRecord,
  type AuditScan,
  type AuditWindow,
  scanControlAudit,
} from "../../store/control/audit-scan.ts";
import { listScopes, type Scope } from "../../store/control/scopes.ts";
import { nameActors } from "../credits/actor-names.ts";
import type { ManageParts } from "../parts.ts";

export type AuditSearch = {
  readonly workspaceId: number;
  /** Null for the whole workspace. */
  readonly scope: Scope | null;
  /** Null for all entries, including those without a customer. */
  readonly customerId: CustomerId | null;
  readonly filter: AuditFilter;
  readonly before: string | null;
  readonly from: string | null;
  readonly limit: number;
};

export type AuditEntry = AuditRecord & {
  readonly actorName: string | null;
  readonly scope: Scope | null;
} & ShownCustomer;

export type AuditPage = { readonly entries: readonly AuditEntry[]; readonly next: string | null };

/** Maximum number of entries that each scan reads for one filtered page. A page can therefore be short but still have a cursor. */
const SCANNED_MAX = 1_000;

/** Merges the audit logs of the control plane and the cells by ID. IDs sort by time. */
export async function listAudit(parts: ManageParts, search: AuditSearch): Promise<AuditPage> {
  const { control, cellOf, cellNamed } = parts;
  const { workspaceId, scope, filter, before, from, limit } = search;
  const scopes = scope === null ? await single(control, (tx) => listScopes(tx, workspaceId)) : [scope];
  const isFiltered = filter.actor !== null || filter.actionPrefix !== null;
  const window = { before, from, count: isFiltered ? Math.max(SCANNED_MAX, limit + 1) : limit + 1 };
  const poolOf = (cell: string): Pool => (scope === null ? cellNamed(cell) : cellOf(scope));
  const cells = [...Map.groupBy(scopes, ({ cell }) => cell)];
  const scans = await Promise.all([
    scanControl(control, search, window),
    ...cells.map(([cell, within]) => scanCell(poolOf(cell), within, search, window)),
  ]);
  const { records, next } = merge(scans, limit);
  const actors = await nameActors(
    control,
    workspaceId,
    records.map(({ actor }) => actor),
  );
  const customers = await Promise.all(
    cells.map(([cell, within]) => nameCustomers(poolOf(cell), within, records)),
  );
  const customerOf = new Map(customers.flat());
  const notes = await Promise.all(cells.map(([cell, within]) => findNotes(poolOf(cell), within, records)));
  const noteOf = new Map(notes.flat());
  const scopeOf = new Map(scopes.map((scope) => [scope.environmentId, scope]));
  const entries = records.map((record, index) => ({
    ...record,
    actorName: actors[index]?.name ?? null,
    scope: record.environmentId === null ? null : (scopeOf.get(record.environmentId) ?? null),
    ...(customerOf.get(customerKey(record)) ?? NO_CUSTOMER),
    after: withNote(nameOther(record, customerOf), noteOf.get(record.id)),
  }));
  return { entries, next };
}

const NOTHING: AuditScan = { records: [], horizon: null };

function scanControl(control: Pool, search: AuditSearch, window: AuditWindow): Promise<AuditScan> {
  const { workspaceId, scope, customerId, filter } = search;
  // The control plane has no customers.
  if (customerId !== null) return Promise.resolve(NOTHING);
  const where = { workspaceId, environmentId: scope?.environmentId ?? null };
  return single(control, (tx) => scanControlAudit(tx, where, window, filter));
}

function scanCell(
  cell: Pool,
  scopes: readonly Scope[],
  { customerId, filter }: AuditSearch,
  window: AuditWindow,
): Promise<AuditScan> {
  return single(cell, async (tx) => {
    const environmentIds = scopes.map(({ environmentId }) => environmentId);
    const sources: readonly AuditSource[] =
      customerId === null
        ? environmentIds.map((environmentId) => ({ environmentId, customerNumber: null }))
        : await findCustomerNumbers(tx, environmentIds, customerId);
    return sources.length === 0 ? NOTHING : scanAudit(tx, sources, window, filter);
  });
}

/** Merges scans, newest first. Stops at the newest `horizon`, because the scan with that horizon has not read older entries. */
export function merge(
  scans: readonly AuditScan[],
  limit: number,
): { records: readonly AuditRecord[]; next: string | null } {
  const horizons = scans.flatMap(({ horizon }) => (horizon === null ? [] : [horizon]));
  const horizon = horizons.sort().at(-1) ?? null;
  const seen = scans
    .flatMap(({ records }) => records)
    .filter(({ id }) => horizon === null || id >= horizon)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const records = seen.slice(0, limit);
  return { records, next: seen.length > limit ? (records.at(-1)?.id ?? null) : horizon };
}

async function nameCustomers(
  cell: Pool,
  scopes: readonly Scope[],
  records: readonly AuditRecord[],
): Promise<[string, ShownCustomer][]> {
  const here = new Set(scopes.map(({ environmentId }) => environmentId));
  const customers = records.flatMap(({ environmentId, customerNumber, after }) => {
    if (environmentId === null || customerNumber === null || !here.has(environmentId)) return [];
    const others = OTHERS.flatMap((field) => numberIn(after, field) ?? []);
    return [customerNumber, ...others].map((number) => ({ environmentId, customerNumber: number }));
  });
  if (customers.length === 0) return [];
  const found = await single(cell, (tx) => findCustomerIds(tx, customers));
  return found.map(({ customerId, customerName, ...number }) => [
    customerKey(number),
    { customerId, customerName },
  ]);
}

/** Finds the notes of revocations. Notes are stored in the ledger, because audit entries cannot be erased. */
async function findNotes(
  cell: Pool,
  scopes: readonly Scope[],
  records: readonly AuditRecord[],
): Promise<[string, string][]> {
  const here = new Set(scopes.map(({ environmentId }) => environmentId));
  const places = records.flatMap(({ id, environmentId, customerNumber, recordedAt, after }) => {
    const sequence = after?.["ledgerEntry"];
    if (environmentId === null || customerNumber === null || !here.has(environmentId)) return [];
    return typeof sequence === "number" ? [{ id, customerNumber, sequence, recordedAt }] : [];
  });
  if (places.length === 0) return [];
  const notes = await single(cell, (tx) => listNotes(tx, places));
  return places.flatMap(({ id }, index) => {
    const note = notes.get(index);
    return note === undefined ? [] : [[id, note] as [string, string]];
  });
}

function withNote(after: AuditRecord["after"], note: string | undefined): AuditRecord["after"] {
  return note === undefined ? after : { ...after, note };
}

/** Fields of `after` with the number of the other customer of a move. IDs are not stored, because audit entries cannot be erased. */
const OTHERS = ["movedFrom", "movedTo"] as const;

function numberIn(after: AuditRecord["after"], field: string): CustomerNumber | null {
  const number = after === null ? null : Reflect.get(after, field);
  return typeof number === "number" ? brandAs<CustomerNumber>(number) : null;
}

/** Replaces the number of the other customer of a move with the customer's ID and name. */
function nameOther(
  { environmentId, after }: AuditRecord,
  customerOf: ReadonlyMap<string, ShownCustomer>,
): AuditRecord["after"] {
  const named = OTHERS.flatMap((field) => {
    const customerNumber = numberIn(after, field);
    if (customerNumber === null) return [];
    const { customerId, customerName } =
      customerOf.get(customerKey({ environmentId, customerNumber })) ?? NO_CUSTOMER;
    return [
      [field, customerId],
      [`${field}Name`, customerName],
    ];
  });
  return named.length === 0 ? after : { ...after, ...Object.fromEntries(named) };
}

function customerKey({
  environmentId,
  customerNumber,
}: Pick<AuditRecord, "environmentId" | "customerNumber">) {
  return `${environmentId} ${customerNumber}`;
}
