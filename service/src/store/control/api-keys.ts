import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type ProjectId } from "../../words/brand.ts";
import type { EnvironmentKind } from "../../words/secret.ts";
import { readEnvironmentKind } from "./environment-kind.ts";

export const SCOPES = ["check", "consume", "events"] as const;
export type Scope = (typeof SCOPES)[number];

/** All that a request needs to know of its key: whose it is, what it may do, and within which limits. */
export type ApiKey = {
  readonly id: number;
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly environmentKind: EnvironmentKind;
  readonly cell: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly metadataLimits: { readonly bytesMax: number; readonly keysMax: number; readonly depthMax: number };
  readonly requestsPerSecondMax: number | null;
  /** By the database's clock, as a duration, so that this machine's clock does not matter. Null: no end. */
  readonly expiresInMs: number | null;
};

const FIND_LIVE = statement(
  "api_keys.find_live",
  `
  select
    n.position,
    k.id,
    k.project_id,
    k.environment_id,
    e.kind,
    p.cell,
    array_to_string(k.scopes, ','),
    l.metadata_bytes_max,
    l.metadata_keys_max,
    l.metadata_depth_max,
    l.requests_per_second_max,
    (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::bigint
  from unnest($1::text[]) with ordinality as n (secret_hash, position)
  join control.api_keys as k on k.secret_hash = decode(n.secret_hash, 'hex')
  join control.environments as e on e.id = k.environment_id
  join control.projects as p on p.id = k.project_id
  join control.workspaces as w on w.id = p.workspace_id
  join control.workspace_plans as l on l.key = w.plan_key
  where k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())`,
);

/** By their place among the hashes. Revoked, expired and never issued are one answer: nobody learns which. */
export async function findLiveApiKeys(
  tx: Tx,
  secretHashes: readonly Buffer[],
): Promise<ReadonlyMap<number, ApiKey>> {
  const { rows } = await tx.run(FIND_LIVE, [secretHashes.map((hash) => hash.toString("hex"))]);
  return new Map(rows.map(([position, ...columns]) => [readInteger(position) - 1, toApiKey(columns)]));
}

function toApiKey(columns: readonly unknown[]): ApiKey {
  const [id, projectId, environmentId, kind, cell, scopes, bytesMax, keysMax, depthMax, rate, expiresInMs] =
    columns;
  return {
    id: readInteger(id),
    projectId: brandAs<ProjectId>(readInteger(projectId)),
    environmentId: brandAs<EnvironmentId>(readInteger(environmentId)),
    environmentKind: readEnvironmentKind(kind),
    cell: readText(cell),
    scopes: new Set(readScopes(scopes)),
    metadataLimits: {
      bytesMax: readInteger(bytesMax),
      keysMax: readInteger(keysMax),
      depthMax: readInteger(depthMax),
    },
    requestsPerSecondMax: readNullable(rate, readInteger),
    expiresInMs: readNullable(expiresInMs, readInteger),
  };
}

const TOUCH = statement(
  "api_keys.touch",
  `
  update control.api_keys
  set last_used_at = clock_timestamp()
  where id = any($1::integer[])`,
);

/** Last use, for people to see which key is idle. Written in batches; a crash loses some seconds of it. */
export async function touchApiKeys(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.run(TOUCH, [[...ids].sort((a, b) => a - b)]);
}

/** Of a column written as `array_to_string(scopes, ',')`. */
export function readScopes(value: unknown): Scope[] {
  const scopes = readText(value).split(",");
  return SCOPES.filter((scope) => scopes.includes(scope));
}
