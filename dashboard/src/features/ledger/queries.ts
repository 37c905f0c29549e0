import { queryOptions } from "@tanstack/react-query";
import type { Item, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { pagesOf, wholeList } from "../../api/lists.ts";
import { ENTRY_WORDS, type EntryKind } from "../../format/ledger-words.ts";
import { customerKey } from "../customers/queries.ts";

export type Entry = Item<"listLedger">;
export type Grant = Item<"listGrants">;
export type PlanChange = Item<"listPlanChanges">;
export type FeatureName = Item<"listFeatures">;

/** With who did it, which is on record in the audit. */
export type LedgerLine = { readonly entry: Entry; readonly by: Actor | null };
export type GrantLine = { readonly grant: Grant; readonly by: Actor | null };
export type PlanLine = { readonly change: PlanChange; readonly by: Actor | null };

export function ledgerQuery(whose: Whose, { kind, feature }: LedgerFilters) {
  const filters = { ...(kind === undefined ? {} : { kind }), ...(feature === undefined ? {} : { feature }) };
  return pagesOf([...keyOf(whose), "ledger", filters], async (cursor) => {
    const { items, ...page } = await answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/ledger", {
        params: { path: pathOf(whose), query: { ...filters, ...cursor } },
      }),
    );
    const audits = await readAudit(whose, { times: timesOf(items.filter(({ kind }) => kind in ACTIONS)) });
    return { ...page, items: items.map((entry): LedgerLine => ({ entry, by: findAuthor(entry, audits) })) };
  });
}

/** What people do to a ledger by hand. */
const ACTIONS: Partial<Record<Entry["kind"], string>> = {
  grant: "credits.added",
  reverse: "consume.reversed",
  revoke: "grant.revoked",
};

function findAuthor(
  { kind, recordedAt: at, reverses }: Entry,
  audits: Parameters<typeof findActor>[0],
): Actor | null {
  const action = ACTIONS[kind];
  return action === undefined
    ? null
    : findActor(audits, { at, action, ...(reverses === null ? {} : { subject: reverses }) });
}

export function grantsQuery(whose: Whose) {
  return pagesOf([...keyOf(whose), "grants"], async (cursor) => {
    const { items, nextCursor } = await readGrants(whose, cursor);
    const times = timesOf(items.filter(({ kind }) => kind !== "allowance"));
    const audits = await readAudit(whose, { times, action: "credits." });
    const lines = items.map((grant): GrantLine => {
      const given = { at: grant.recordedAt, action: "credits.added", subject: `grant ${grant.grant}` };
      return { grant, by: findActor(audits, given) };
    });
    return { items: lines, nextCursor };
  });
}

/** As many as any ledger's first pages speak of; of an older one only the number is known. */
const KNOWN_PAGES_MAX = 5;

export type KnownGrants = {
  readonly grants: readonly Grant[];
  /** Whether there are no older ones. */
  readonly isAll: boolean;
};

/** The newest grants, to say of what kind an entry's were. */
export function knownGrantsQuery(whose: Whose) {
  return queryOptions({
    queryKey: [...keyOf(whose), "known grants"],
    queryFn: async (): Promise<KnownGrants> => {
      const known: Grant[] = [];
      let cursor: { cursor?: string } = {};
      for (let page = 0; page < KNOWN_PAGES_MAX; page++) {
        const { items, nextCursor } = await readGrants(whose, { limit: "200", ...cursor });
        known.push(...items);
        if (nextCursor === null) return { grants: known, isAll: true };
        cursor = { cursor: nextCursor };
      }
      return { grants: known, isAll: false };
    },
  });
}

function readGrants(whose: Whose, query: { limit?: string; cursor?: string }) {
  return answerOf(
    api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/grants", {
      params: { path: pathOf(whose), query },
    }),
  );
}

export function planChangesQuery(whose: Whose) {
  return pagesOf([...keyOf(whose), "plan changes"], async (cursor) => {
    const { items, nextCursor } = await answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plans", {
        params: { path: pathOf(whose), query: cursor },
      }),
    );
    const audits = await readAudit(whose, { times: timesOf(items), action: "plan." });
    const lines = items.map((change): PlanLine => {
      const { effectiveAt, recordedAt: at } = change;
      // What fell due earlier came by itself, and was written when somebody looked.
      const by = effectiveAt < at ? null : findActor(audits, { at, action: "plan." });
      return { change, by };
    });
    return { items: lines, nextCursor };
  });
}

export function customerRequestsQuery(whose: Whose) {
  return pagesOf([...keyOf(whose), "requests"], (cursor) =>
    answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/requests", {
        params: { path: pathOf(whose), query: cursor },
      }),
    ),
  );
}

/** The features there are, archived ones too: they were charged for once. */
export function featureNamesQuery({ projectId, environment }: Place) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["features", place, "names"],
    queryFn: () =>
      wholeList((query) =>
        answerOf(
          api.GET("/manage/v1/projects/{projectId}/{environment}/features", {
            params: { path: place, query },
          }),
        ),
      ),
    staleTime: 30_000,
  });
}

function keyOf(whose: Whose) {
  return customerKey(whose, whose.customerId);
}

function pathOf({ projectId, environment, customerId }: Whose): Whose {
  return { projectId, environment, customerId };
}

function timesOf(lines: readonly { recordedAt: string }[]): string[] {
  return lines.map(({ recordedAt }) => recordedAt);
}

export type Whose = Place & { readonly customerId: string };

type Audit = Item<"listEnvironmentAudit">;
export type Actor = Audit["actor"];

/** Far more than people do within one page of anything. */
const PAGES_MAX = 5;

/**
 * What was audited at these moments and between them, of actions that begin with this: an audit has the very time of what it
 * is about.
 */
async function readAudit(
  { projectId, environment, customerId }: Whose,
  { times, action }: { times: readonly string[]; action?: string },
): Promise<Audit[]> {
  const millis = times.map((time) => Date.parse(time));
  if (millis.length === 0) return [];
  const from = new Date(Math.min(...millis)).toISOString();
  const to = new Date(Math.max(...millis) + 1).toISOString();
  const found: Audit[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, nextCursor }: { items: Audit[]; nextCursor: string | null } = await answerOf(
      api.GET("/manage/v1/projects/{projectId}/{environment}/audit", {
        params: {
          path: { projectId, environment },
          query: {
            customerId,
            from,
            to,
            limit: "200",
            ...(action === undefined ? {} : { action }),
            ...(cursor === null ? {} : { cursor }),
          },
        },
      }),
    );
    found.push(...items);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return found;
}

/** Who did it, if somebody did: much comes by itself, as a new period does. */
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

/** What the ledger is narrowed to, and the charge that is looked for; they stand in the address. */
export type LedgerFilters = { kind?: EntryKind; feature?: string; charge?: string };

export function readLedgerFilters(search: Record<string, unknown>): LedgerFilters {
  const { kind, feature, charge } = search;
  return {
    ...(isEntryKind(kind) ? { kind } : {}),
    ...(isText(feature) ? { feature } : {}),
    ...(isText(charge) ? { charge } : {}),
  };
}

/** The grant that is looked for. */
type GrantFilters = { grant?: number };

export function readGrantFilters({ grant }: Record<string, unknown>): GrantFilters {
  return typeof grant === "number" && Number.isSafeInteger(grant) && grant > 0 ? { grant } : {};
}

function isEntryKind(value: unknown): value is EntryKind {
  return typeof value === "string" && Object.hasOwn(ENTRY_WORDS, value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 255;
}
