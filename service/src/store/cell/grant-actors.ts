import { bigints, hexUuids, texts } from "../../postgres/binary-array.ts";
import { readInteger, readNullable, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { brandAs } from "../../primitives/brand.ts";

// The audit of a grant is of the same moment, and so is the id of that audit: no more than a few rows are looked at.
const FIND = statement(
  "audit.find_actors_of_grants",
  `
  select g.position::integer, a.actor_kind, a.actor_id
  from unnest($2::bigint[], $3::text[], $4::uuid[], $5::uuid[]) with ordinality
    as g (customer_number, subject, from_id, to_id, position)
  cross join lateral (
    select a.actor_kind, a.actor_id
    from cell.audit as a
    where a.environment_id = $1
      and a.customer_number = g.customer_number
      and a.id >= g.from_id
      and a.id < g.to_id
      and a.subject = g.subject
    limit 1
  ) as a`,
);

export type GivenGrant = {
  readonly customerNumber: CustomerNumber;
  readonly number: number;
  readonly recordedAt: Instant;
};

/** As `Actor` has it, without the request. */
export type GrantActor = { readonly kind: string; readonly id: string | null };

/** Who gave each of these grants, in their order; null where nothing says so, as of an allowance. */
export async function findActorsOfGrants(
  tx: Tx,
  environmentId: EnvironmentId,
  grants: readonly GivenGrant[],
): Promise<(GrantActor | null)[]> {
  const { rows } = await tx.run(FIND, [
    environmentId,
    bigints(grants.map(({ customerNumber }) => customerNumber)),
    texts(grants.map(({ number }) => `grant ${number}`)),
    hexUuids(grants.map(({ recordedAt }) => firstIdOf(recordedAt))),
    hexUuids(grants.map(({ recordedAt }) => firstIdOf(brandAs<Instant>(recordedAt + 1)))),
  ]);
  const found: (GrantActor | null)[] = grants.map(() => null);
  for (const [position, kind, id] of rows) {
    found[readInteger(position) - 1] = { kind: readText(kind), id: readNullable(id, readText) };
  }
  return found;
}

/** No UUIDv7 of this millisecond, or of a later one, comes before it. */
function firstIdOf(at: Instant): string {
  return at.toString(16).padStart(12, "0").padEnd(32, "0");
}
