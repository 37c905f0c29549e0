import type { GrantFacts } from "../../../entitlement/revoke-grant.ts";
import { bigints, integers } from "../../../postgres/binary-array.ts";
import { readInteger, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import { grantKindOf } from "../wallet-state.ts";
import type { Run } from "./ledger.ts";

// One row for each run and its grants as JSON, as with entries. A revocation is the one change that a grant allows, and
// may have come after the wallet was read; one that is a minute older than that has not: no transaction takes so long.
const LIST = statement(
  "verify.list_grants",
  `
  select n.position::integer, g.grants
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  cross join lateral (
    select json_agg(json_build_array(
      g.number,
      coalesce(g.merged_into, g.number),
      g.pool_id,
      g.kind,
      g.credits,
      (date_part('epoch', g.expires_at) * 1000)::bigint,
      coalesce(g.revoked_at < $5::timestamptz - interval '1 minute', false)
    ) order by g.number)::text as grants
    from cell.grants as g
    where g.environment_id = n.environment_id
      and g.customer_number = n.customer_number
      and g.number > n.after
      and g.number <= n.until
  ) as g`,
);

type GrantColumns = readonly [
  number: number,
  slot: number,
  pool: number,
  kind: number,
  credits: number,
  expiresAt: number | null,
  isRevoked: boolean,
];

/** The grants of each run, by number. */
export async function listGrants(
  tx: Tx,
  runs: readonly Run[],
  walletsReadAt: Instant,
): Promise<(readonly GrantFacts[])[]> {
  const { rows } = await tx.run(LIST, [
    integers(runs.map(({ environmentId }) => environmentId)),
    bigints(runs.map(({ customerNumber }) => customerNumber)),
    integers(runs.map(({ after }) => after)),
    integers(runs.map(({ until }) => until)),
    formatTimestamp(walletsReadAt),
  ]);
  const found: (readonly GrantFacts[])[] = runs.map(() => []);
  for (const [position, grants] of rows) {
    if (grants !== null) found[readInteger(position) - 1] = readGrants(readText(grants));
  }
  return found;
}

function readGrants(text: string): GrantFacts[] {
  const columns: readonly GrantColumns[] = JSON.parse(text);
  return columns.map(([number, slot, pool, kind, credits, expiresAt, isRevoked]) => ({
    number,
    slot,
    pool: brandAs<PoolId>(pool),
    kind: grantKindOf(kind),
    credits: readInteger(credits),
    expiresAt: expiresAt === null ? null : brandAs<Instant>(expiresAt),
    isRevoked,
  }));
}
