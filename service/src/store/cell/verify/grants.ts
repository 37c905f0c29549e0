import type { GrantFacts } from "../../../entitlement/revoke-grant.ts";
import { bigints, integers } from "../../../postgres/binary-array.ts";
import { readBoolean, readInstant, readInteger, readNullable } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type Instant, type PoolId } from "../../../primitives/brand.ts";
import { formatTimestamp } from "../../../primitives/timestamp.ts";
import { grantKindOf } from "../wallet-state.ts";
import type { Run } from "./ledger.ts";

// A revocation is the one change that a grant allows, and may have come after the wallet was read. One that is a
// minute older than that has not: no transaction takes so long.
const LIST = statement(
  "verify.list_grants",
  `
  select
    n.position::integer,
    g.number,
    coalesce(g.merged_into, g.number),
    g.pool_id,
    g.kind,
    g.credits,
    (date_part('epoch', g.expires_at) * 1000)::bigint,
    coalesce(g.revoked_at < $5::timestamptz - interval '1 minute', false)
  from unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[]) with ordinality
    as n (environment_id, customer_number, after, until, position)
  join cell.grants as g
    on g.environment_id = n.environment_id
    and g.customer_number = n.customer_number
    and g.number > n.after
    and g.number <= n.until
  order by n.position, g.number`,
);

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
  const found: GrantFacts[][] = runs.map(() => []);
  for (const [position, number, slot, pool, kind, credits, expiresAt, isRevoked] of rows) {
    found[readInteger(position) - 1]?.push({
      number: readInteger(number),
      slot: readInteger(slot),
      pool: brandAs<PoolId>(readInteger(pool)),
      kind: grantKindOf(readInteger(kind)),
      credits: readInteger(credits),
      expiresAt: readNullable(expiresAt, readInstant),
      isRevoked: readBoolean(isRevoked),
    });
  }
  return found;
}
