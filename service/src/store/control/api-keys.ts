import { readInteger } from "../../postgres/column.ts";
import { derive, describeRow, id, integer, orNull, type Part, type RowOf, text } from "../../postgres/row.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, ProjectId } from "../../primitives/brand.ts";
import { environmentKind } from "./scopes.ts";

export const SCOPES = ["check", "consume", "events", "reverse"] as const;
export type KeyScope = (typeof SCOPES)[number];
/** The scopes of a project's first keys. A key that can reverse charges must be created explicitly. */
export const SCOPES_DEFAULT: readonly KeyScope[] = ["check", "consume", "events"];

export function scopes(sql: string): Part<readonly KeyScope[]> {
  return derive(text(`array_to_string(${sql}, ',')`), (joined) => {
    const found = joined.split(",");
    return SCOPES.filter((scope) => found.includes(scope));
  });
}

const KEY = describeRow({
  id: integer("k.id"),
  projectId: id<ProjectId>("k.project_id"),
  environmentId: id<EnvironmentId>("k.environment_id"),
  environmentKind: environmentKind("e.kind"),
  cell: text("p.cell"),
  scopes: derive(scopes("k.scopes"), (list): ReadonlySet<KeyScope> => new Set(list)),
  metadataLimits: describeRow({
    bytesMax: integer("l.metadata_bytes_max"),
    keysMax: integer("l.metadata_keys_max"),
    depthMax: integer("l.metadata_depth_max"),
  }),
  /** Null if history is not limited. */
  historyDaysMax: orNull(integer("l.history_days_max")),
  requestsPerSecondMax: orNull(integer("l.requests_per_second_max")),
  /** Time left according to the database clock, because this machine's clock may differ. Null if the key never expires. */
  expiresInMs: orNull(integer("(extract(epoch from k.expires_at - clock_timestamp()) * 1000)::bigint")),
});

/** The properties of an API key that a request needs. */
export type ApiKey = RowOf<typeof KEY>;

const FIND_LIVE = statement(
  "api_keys.find_live",
  `
  select
    n.position,
    ${KEY.list}
  from unnest($1::text[]) with ordinality as n (secret_hash, position)
  join control.api_keys as k on k.secret_hash = decode(n.secret_hash, 'hex')
  join control.environments as e on e.id = k.environment_id
  join control.projects as p on p.id = k.project_id
  join control.workspaces as w on w.id = p.workspace_id
  join control.workspace_plans as l on l.key = w.plan_key
  where k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())`,
);

/** Finds valid keys. The map is keyed by the index in `secretHashes`, and omits revoked, expired and unknown keys. */
export async function findLiveApiKeys(
  tx: Tx,
  secretHashes: readonly Buffer[],
): Promise<ReadonlyMap<number, ApiKey>> {
  const { rows } = await tx.run(FIND_LIVE, [secretHashes.map((hash) => hash.toString("hex"))]);
  return new Map(rows.map((row) => [readInteger(row[0]) - 1, KEY.readAt(row, 1)]));
}

const TOUCH = statement(
  "api_keys.touch",
  `
  update control.api_keys
  set last_used_at = clock_timestamp()
  where id = any($1::integer[])`,
);

/** Records the last use of keys. Written in batches, so a crash can lose a few seconds of updates. */
export async function touchApiKeys(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run(TOUCH, [[...ids].sort((a, b) => a - b)]);
}
