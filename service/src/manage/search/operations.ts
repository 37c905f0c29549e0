import { Type } from "typebox";
import { hashKey } from "../../entitlement/key-hash.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { parseHoldId } from "../../primitives/hold-id.ts";
import { parseTimedId } from "../../primitives/public-id.ts";
import { roleIn } from "../../primitives/role.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import {
  type FoundKey,
  findCatalogByText,
  findCustomersByText,
  type SearchScope,
} from "../../store/cell/search.ts";
import {
  type FoundRecord,
  findGrantsByReference,
  findHoldById,
  findRecordById,
  findUsesOfKey,
  type RecordKind,
} from "../../store/cell/search-records.ts";
import { listScopes, type NamedScope } from "../../store/control/scopes.ts";
import { strictObject } from "../fields.ts";
import { readHistoryStart } from "../history-window.ts";
import {
  type Call,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  principalOf,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { Found } from "./found.ts";

const NOUN = "Search";

const DESCRIPTION =
  "Returns at most 10 results of each kind:\n\n" +
  "- Customers: part of the ID, name, email or billing reference. Text of one or two characters matches only the beginning.\n" +
  "- Grants: the full reference, such as a payment ID.\n" +
  "- Charges, denials, holds and usage events: the ID.\n" +
  "- Idempotency keys: the full key.\n" +
  "- Plans and features: the beginning of the key, or part of the name.\n\n";

const query = strictObject({
  q: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "Search text.",
    examples: ["pi_3MtwBwLkdIwHu7ix"],
  }),
});

export function searchOperations({ control, cellOf, cellNamed }: ManageParts): Operation[] {
  const search = async (
    call: Call<unknown, { q: string }>,
    isSearched: (scope: NamedScope) => boolean,
    poolOf: ManageParts["cellNamed"],
  ) => {
    const { workspaceId } = principalOf(call);
    const scopes = await single(control, (tx) => listScopes(tx, workspaceId));
    return searchScopes(poolOf, {
      scopes: scopes.filter(isSearched),
      text: call.query.q,
      since: await readHistoryStart(control, workspaceId),
    });
  };
  return [
    operation({
      method: "GET",
      path: "/manage/v1/search",
      access: { role: "viewer", in: "anywhere" },
      id: "search",
      noun: NOUN,
      summary: "Search all projects",
      description: `${DESCRIPTION}Searches every environment in which you have a role.`,
      query,
      answer: Found,
      handle: async (call) => search(call, (scope) => roleIn(principalOf(call), scope) !== null, cellNamed),
    }),
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/search`,
      access: { role: "viewer", in: "environment" },
      id: "searchEnvironment",
      noun: NOUN,
      summary: "Search one environment",
      description: `${DESCRIPTION}Searches only this environment.`,
      params: Type.Object(environmentParams),
      query,
      answer: Found,
      handle: async (call) => {
        const scope = scopeOf(call);
        return search(
          call,
          ({ environmentId }) => environmentId === scope.environmentId,
          () => cellOf(scope),
        );
      },
    }),
  ];
}

/** Maximum number of results of each kind. */
const FOUND_MAX = 10;

type SearchInput = {
  readonly scopes: readonly NamedScope[];
  readonly text: string;
  /** Records before this time are hidden. If null, no records are hidden. */
  readonly since: Instant | null;
};

/** Searches the given environments in each cell that stores them. */
async function searchScopes(poolOf: ManageParts["cellNamed"], input: SearchInput): Promise<Found> {
  const all: Found[] = [];
  for (const [cell, scopes] of Map.groupBy(input.scopes, (scope) => scope.cell)) {
    all.push(await single(poolOf(cell), (tx) => searchCell(tx, { ...input, scopes })));
  }
  const merge = <T>(of: (found: Found) => readonly T[]): T[] => all.flatMap(of).slice(0, FOUND_MAX);
  return {
    customers: merge(({ customers }) => customers),
    grants: merge(({ grants }) => grants),
    keys: merge(({ keys }) => keys),
    charges: merge(({ charges }) => charges),
    denials: merge(({ denials }) => denials),
    holds: merge(({ holds }) => holds),
    events: merge(({ events }) => events),
    plans: merge(({ plans }) => plans),
    features: merge(({ features }) => features),
  };
}

async function searchCell(tx: Tx, input: SearchInput): Promise<Found> {
  const { scopes, text } = input;
  const scope = { environments: scopes.map(({ environmentId }) => environmentId), limit: FOUND_MAX };
  const whereIs = describeWhere(scopes);
  const customers = await findCustomersByText(tx, scope, text);
  const item = ({ environmentId, key, name }: FoundKey) => ({ ...whereIs(environmentId), key, name });
  return {
    customers: customers.map(({ environmentId, customerNumber: _, ...customer }) => ({
      ...whereIs(environmentId),
      ...customer,
    })),
    ...(await searchReferences(tx, input, scope, whereIs)),
    ...(await searchIds(tx, input, scope, whereIs)),
    plans: (await findCatalogByText(tx, "plans", scope, text)).map(item),
    features: (await findCatalogByText(tx, "features", scope, text)).map(item),
  };
}

async function searchReferences(
  tx: Tx,
  { scopes, text, since }: SearchInput,
  scope: SearchScope,
  whereIs: WhereIs,
): Promise<Pick<Found, "grants" | "keys">> {
  const grants = await findGrantsByReference(tx, scope, text);
  const projects = [...new Set(scopes.map(({ projectId }) => projectId))];
  const keys = await findUsesOfKey(tx, { ...scope, projects }, hashKey(text));
  return {
    grants: grants.filter(isAfter(since)).map(({ environmentId, at, ...grant }) => ({
      ...whereIs(environmentId),
      recordedAt: formatTimestamp(at),
      ...grant,
    })),
    keys: keys.filter(isAfter(since)).map(({ environmentId, recordedAt, endpoint }) => ({
      ...whereIs(environmentId),
      recordedAt: formatTimestamp(recordedAt),
      idempotencyKey: text,
      endpoint,
    })),
  };
}

async function searchIds(
  tx: Tx,
  { text, since }: SearchInput,
  scope: SearchScope,
  whereIs: WhereIs,
): Promise<Pick<Found, "charges" | "denials" | "holds" | "events">> {
  const find = async (kind: RecordKind) => (await findById(tx, kind, scope, text)).filter(isAfter(since));
  const shared = ({ environmentId, customerId, customerName, quantity }: FoundRecord) => ({
    ...whereIs(environmentId),
    customerId,
    customerName,
    quantity,
  });
  const featureOf = ({ subject, name }: FoundRecord) => ({ feature: subject, featureName: name ?? subject });
  return {
    charges: (await find("charge")).map((row) => ({
      ...shared(row),
      recordedAt: formatTimestamp(row.at),
      consumeId: text,
      ...featureOf(row),
    })),
    denials: (await find("denial")).map((row) => ({
      ...shared(row),
      recordedAt: formatTimestamp(row.at),
      denialId: text,
      ...featureOf(row),
      reason: row.reason,
    })),
    holds: (await findHold(tx, scope, text))
      .filter(isAfter(since))
      .map(({ environmentId, customerId, customerName, at }) => ({
        ...whereIs(environmentId),
        customerId,
        customerName,
        openedAt: formatTimestamp(at),
        holdId: text,
      })),
    events: (await find("event")).map((row) => ({
      ...shared(row),
      occurredAt: formatTimestamp(row.at),
      eventId: text,
      event: row.subject,
    })),
  };
}

function isAfter(since: Instant | null) {
  return ({ at }: { readonly at: Instant }): boolean => since === null || at >= since;
}

const PREFIX = { charge: "con", denial: "den", event: "evt" } as const satisfies Record<RecordKind, string>;

async function findById(tx: Tx, kind: RecordKind, scope: SearchScope, text: string): Promise<FoundRecord[]> {
  const id = parseTimedId(PREFIX[kind], text);
  const found = id === null ? null : await findRecordById(tx, kind, scope, id);
  return found === null ? [] : [found];
}

async function findHold(tx: Tx, scope: SearchScope, text: string) {
  const id = parseHoldId(text);
  const found = id === null ? null : await findHoldById(tx, scope, id);
  return found === null ? [] : [found];
}

type WhereIs = ReturnType<typeof describeWhere>;

function describeWhere(scopes: readonly NamedScope[]) {
  const byId = new Map(scopes.map((scope) => [scope.environmentId, scope]));
  return (environmentId: EnvironmentId) => {
    const scope = byId.get(environmentId);
    assert(scope !== undefined, "results are from the searched environments");
    const { projectId, projectName, environment } = scope;
    return { projectId: String(projectId), projectName, environment };
  };
}
