import { readInstant, readInteger, readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import { assert } from "../../primitives/assert.ts";
import type { Instant } from "../../primitives/brand.ts";

/** The last migration applied to a schema. */
export type LatestMigration = {
  readonly number: number;
  readonly name: string;
  readonly appliedAt: Instant;
};

export type ControlHealth = {
  readonly postgresVersion: string;
  readonly databaseBytes: number;
  readonly clock: Instant;
  readonly migration: LatestMigration;
};

const READ = statement(
  "health.read_control",
  `
  select
    current_setting('server_version'),
    pg_database_size(current_database()),
    (extract(epoch from clock_timestamp()) * 1000)::bigint,
    m.number,
    m.name,
    (extract(epoch from m.applied_at) * 1000)::bigint
  from control.migrations as m
  order by m.number desc
  limit 1`,
);

export async function readControlHealth(tx: Tx): Promise<ControlHealth> {
  const { rows } = await tx.run(READ);
  assert(rows[0] !== undefined, "the schema is migrated");
  const [version, bytes, clock, number, name, appliedAt] = rows[0];
  return {
    postgresVersion: readText(version),
    databaseBytes: readInteger(bytes),
    clock: readInstant(clock),
    migration: { number: readInteger(number), name: readText(name), appliedAt: readInstant(appliedAt) },
  };
}
