import { queryOptions } from "@tanstack/react-query";
import { type Item, scopeOf } from "../../api/answer.ts";
import { pagesBy, pagesOf, readList, readPage } from "../../api/lists.ts";
import { ENTRY_NAMES, type EntryKind } from "../../format/ledger.ts";
import { choice, type SearchOf, searchOf, text, whole } from "../../format/search.ts";
import { type RangeSearch, rangeToTimes, readRangeSearch } from "../../format/usage-range.ts";
import { readClock } from "../../ui/time.tsx";
import { type CustomerScope, customerScopeOf } from "../customers/queries.ts";
import type { CustomerRequestFilters } from "../requests/request-filters.ts";

export type Entry = Item<"listLedger">;
export type Grant = Item<"listGrants">;
export type PlanChange = Item<"listPlanChanges">;
export type Hold = Item<"listCustomerHolds">;

type Audit = Item<"listEnvironmentAudit">;
export type Actor = Audit["actor"];

/** A ledger entry and its author, according to the audit log. */
export type LedgerLine = {
  readonly entry: Entry;
  readonly by: Actor | null;
  /** The number of the grant that the entry moved to or from another customer. */
  readonly movedGrant: number | null;
};
export type GrantLine = { readonly grant: Grant; readonly by: Actor | null };
/** `by` is the actor who released the hold by hand. */
export type HoldLine = { readonly hold: Hold; readonly by: Actor | null };
export type PlanLine = { readonly change: PlanChange; readonly by: Actor | null };

const FILTERS = {
  kind: choice(Object.keys(ENTRY_NAMES) as EntryKind[]),
  feature: text(),
  /** The linked request and the index of the linked item. Without an index, all charges of the request are linked. */
  charge: text(),
  item: whole(),
};

/** Ledger filters in the URL. */
export type LedgerFilters = SearchOf<typeof FILTERS> & RangeSearch;

const readFilters = searchOf(FILTERS);

export function readLedgerFilters(search: Record<string, unknown>): LedgerFilters {
  return { ...readFilters(search), ...readRangeSearch(search, null) };
}

/** Whether the entry is a linked charge, or reverses a linked charge. */
export function isLinked({ consumeId, reverses, item }: Entry, linked: LedgerFilters): boolean {
  const { charge } = linked;
  if (charge === undefined || (consumeId ?? reverses) !== charge) return false;
  return linked.item === undefined || linked.item === item;
}

/** Whether to scroll to this entry: it is the linked charge or, if several are linked, the first item (listed last). */
export function isLinkTarget(entry: Entry, linked: LedgerFilters): boolean {
  return entry.consumeId !== null && isLinked(entry, linked) && (entry.item ?? 0) === (linked.item ?? 0);
}

/** Reads the linked grant from the URL. */
export const readGrantFilters = searchOf({ grant: whole(1) });

/** Reads the linked hold from the URL. */
export const readHoldFilters = searchOf({ hold: text(64, /^hld_/) });

const CUSTOMER_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}";

export function ledgerQuery(customerScope: CustomerScope, filters: LedgerFilters) {
  const path = `${CUSTOMER_PATH}/ledger` as const;
  const { charge: _, item: __, ...query } = rangeToTimes(filters, Date.now(), readClock());
  const request = { params: { path: customerScopeOf(customerScope), query } };
  return pagesBy(["get", path, request], async (cursor) => {
    const { items, ...page } = await readPage(path, request, cursor);
    const audits = await readAudit(customerScope, {
      times: timesOf(items.filter(({ kind }) => kind in ACTIONS)),
    });
    return {
      ...page,
      items: items.map((entry): LedgerLine => {
        const audit = findAudit(entry, audits);
        return { entry, by: audit?.actor ?? null, movedGrant: movedIn(audit) };
      }),
    };
  });
}

/** Actions of members and tokens that create entries of these kinds. */
const ACTIONS: Partial<Record<Entry["kind"], readonly string[]>> = {
  grant: ["credits.added", "credits.moved"],
  reverse: ["consume.reversed"],
  revoke: ["grant.revoked", "credits.moved"],
};

function findAudit({ kind, recordedAt, reverses }: Entry, audits: readonly Audit[]): Audit | undefined {
  return audits.find(
    (audit) =>
      audit.recordedAt === recordedAt &&
      ACTIONS[kind]?.includes(audit.action) &&
      (reverses === null || audit.subject === reverses),
  );
}

function movedIn(audit: Audit | undefined): number | null {
  if (audit?.action !== "credits.moved") return null;
  return Number(audit.subject.replace("grant ", ""));
}

export function grantsQuery(customerScope: CustomerScope) {
  const path = `${CUSTOMER_PATH}/grants` as const;
  const request = { params: { path: customerScopeOf(customerScope) } };
  return pagesBy(["get", path, request], async (cursor) => {
    const { items, nextCursor } = await readPage(path, request, cursor);
    const times = timesOf(items.filter(({ kind }) => kind !== "allowance"));
    const audits = await readAudit(customerScope, { times, action: "credits." });
    const lines = items.map((grant): GrantLine => {
      const given = { at: grant.recordedAt, action: "credits.", subject: `grant ${grant.grant}` };
      return { grant, by: findActor(audits, given) };
    });
    return { items: lines, nextCursor };
  });
}

export function openHoldsQuery(customerScope: CustomerScope) {
  const params = { path: customerScopeOf(customerScope), query: { status: "open" as const } };
  return pagesOf(`${CUSTOMER_PATH}/holds`, { params });
}

/** All holds, including open ones, because the API has no filter for ended holds. */
export function holdsQuery(customerScope: CustomerScope) {
  const path = `${CUSTOMER_PATH}/holds` as const;
  const request = { params: { path: customerScopeOf(customerScope) } };
  return pagesBy(["get", path, request], async (cursor) => {
    const { items, ...page } = await readPage(path, request, cursor);
    const times = items.flatMap(({ status, endedAt }) => (status === "released" ? (endedAt ?? []) : []));
    const audits = await readAudit(customerScope, { times, action: "hold." });
    const lines = items.map((hold): HoldLine => {
      const { holdId: subject, endedAt: at } = hold;
      return { hold, by: at === null ? null : findActor(audits, { at, action: "hold.released", subject }) };
    });
    return { ...page, items: lines };
  });
}

/** Maximum number of grant pages to read, which is enough for the first ledger pages. Older grants are shown by number only. */
const KNOWN_PAGES_MAX = 5;

export type KnownGrants = {
  readonly grants: readonly Grant[];
  /** False if older grants are not loaded. */
  readonly isAll: boolean;
};

/** The newest grants, to show the grant kind of ledger entries. */
export function knownGrantsQuery(customerScope: CustomerScope) {
  const path = `${CUSTOMER_PATH}/grants` as const;
  const request = { params: { path: customerScopeOf(customerScope) } };
  return queryOptions({
    queryKey: ["get", path, request, "known"],
    queryFn: async (): Promise<KnownGrants> => {
      const { items, isWhole } = await readList(path, request, KNOWN_PAGES_MAX);
      return { grants: items, isAll: isWhole };
    },
  });
}

export function planChangesQuery(customerScope: CustomerScope) {
  const path = `${CUSTOMER_PATH}/plans` as const;
  const request = { params: { path: customerScopeOf(customerScope) } };
  return pagesBy(["get", path, request], async (cursor) => {
    const { items, nextCursor } = await readPage(path, request, cursor);
    const audits = await readAudit(customerScope, { times: timesOf(items), action: "plan." });
    const lines = items.map((change): PlanLine => {
      const { effectiveAt, recordedAt: at } = change;
      // Scheduled changes have no author. They are recorded on the customer's next access.
      const by = effectiveAt < at ? null : findActor(audits, { at, action: "plan." });
      return { change, by };
    });
    return { items: lines, nextCursor };
  });
}

export function customerRequestsQuery(customerScope: CustomerScope, filters: CustomerRequestFilters) {
  const query = rangeToTimes(filters, Date.now(), readClock());
  return pagesOf(`${CUSTOMER_PATH}/requests`, { params: { path: customerScopeOf(customerScope), query } });
}

function timesOf(lines: readonly { recordedAt: string }[]): string[] {
  return lines.map(({ recordedAt }) => recordedAt);
}

/** Maximum number of audit pages to search for one page of the ledger. */
const AUDIT_PAGES_MAX = 5;

/** Audit entries between two times, with this action prefix. An audit entry has the same timestamp as its change. */
async function readAudit(
  customerScope: CustomerScope,
  { times, action }: { times: readonly string[]; action?: string },
): Promise<Audit[]> {
  const millis = times.map((time) => Date.parse(time));
  if (millis.length === 0) return [];
  const query = {
    customerId: customerScope.customerId,
    from: new Date(Math.min(...millis)).toISOString(),
    to: new Date(Math.max(...millis) + 1).toISOString(),
    ...(action === undefined ? {} : { action }),
  };
  const request = { params: { path: scopeOf(customerScope), query } };
  const path = "/manage/v1/projects/{projectId}/{environment}/audit";
  return (await readList(path, request, AUDIT_PAGES_MAX)).items;
}

/** The author of a change. Null for automatic changes, such as a renewal. */
function findActor(
  audits: readonly Audit[],
  done: { at: string; action: string; subject?: string },
): Actor | null {
  const audit = audits.find(
    ({ recordedAt, action, subject }) =>
      recordedAt === done.at &&
      action.startsWith(done.action) &&
      (done.subject === undefined || subject === done.subject),
  );
  return audit?.actor ?? null;
}
