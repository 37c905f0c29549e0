import { statement, type Tx } from "../../../postgres/statement.ts";
import { brandAs, type EnvironmentId, type Instant } from "../../../words/brand.ts";
import { formatTimestamp } from "../../../words/timestamp.ts";
import type { Uuid } from "../../../words/uuid.ts";
import { readStoredEvent, type StoredEvent, storedEventColumns } from "../stored-event.ts";

const FIND = statement(
  "explain.find_event",
  `
  select${storedEventColumns("e")}
  from cell.events as e
  where e.recorded_at = $2
    and e.id = $3
    and e.environment_id = $1`,
);

/** The id is a UUIDv7 of when it was recorded. Null: there is no such event in this environment. */
export async function findEvent(tx: Tx, environmentId: EnvironmentId, id: Uuid): Promise<StoredEvent | null> {
  const recordedAt = brandAs<Instant>(id.readUIntBE(0, 6));
  const { rows } = await tx.run(FIND, [environmentId, formatTimestamp(recordedAt), id.toString("hex")]);
  return rows[0] === undefined ? null : readStoredEvent(rows[0]);
}
