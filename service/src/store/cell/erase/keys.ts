import type { ShortHash } from "../../../entitlement/fingerprint.ts";
import { hexUuids, uuids } from "../../../postgres/binary-array.ts";
import { readInteger, readText } from "../../../postgres/column.ts";
import { statement, type Tx } from "../../../postgres/statement.ts";
import type { ProjectId } from "../../../primitives/brand.ts";
import type { Uuid } from "../../../primitives/uuid.ts";

const LOCK = statement(
  "erase.lock_keys",
  `
  select encode(uuid_send(k.key_hash), 'hex')
  from unnest($2::uuid[]) as k (key_hash)
  cross join lateral (
    select q.key
    from cell.keyed_requests as q
    where q.project_id = $1
      and q.key_hash = k.key_hash
      and q.key <> ''
    for update
  ) as q`,
);

const ERASE = statement(
  "erase.keys",
  `
  update cell.keyed_requests
  set key = ''
  where project_id = $1
    and key_hash = any($2::uuid[])`,
);

/** Takes the text of these keys; by their hash they go on to answer repeats. Locked in the order in which a lane locks them. */
export async function eraseKeys(
  tx: Tx,
  projectId: ProjectId,
  keyHashes: readonly ShortHash[],
): Promise<number> {
  const { rows } = await tx.run(LOCK, [projectId, hexUuids(keyHashes.toSorted())]);
  if (rows.length === 0) return 0;
  const { rowCount } = await tx.run(ERASE, [projectId, hexUuids(rows.map(([hash]) => readText(hash)))]);
  return rowCount;
}

const EXTENT = statement(
  "erase.read_extent_of_keys",
  `
  select count(*), coalesce(max(pg_relation_size(t.relid) / current_setting('block_size')::integer), 0)
  from pg_partition_tree('cell.keyed_requests') as t
  where t.isleaf`,
);

/** How many partitions the table has, and how many pages the longest of them. */
export async function readExtentOfKeys(tx: Tx): Promise<{ partitions: number; pages: number }> {
  const { rows } = await tx.run(EXTENT);
  return { partitions: readInteger(rows[0]?.[0]), pages: readInteger(rows[0]?.[1]) };
}

// Without a name, so that it is planned for its pages each time: a plan for any pages would read the whole table.
const FIND_OF_EVENTS = {
  name: "",
  text: `/* erase.find_keys_of_events */
  select encode(uuid_send(q.key_hash), 'hex')
  from cell.keyed_requests as q
  where q.ctid >= $1::tid
    and q.ctid < $2::tid
    and q.project_id = $3
    and q.endpoint = 3
    and q.subject_id = any($4::uuid[])
    and q.key <> ''`,
};

/** Nothing leads from an event to its key either: the pages `from` up to `to` of each partition are looked through. */
export async function findKeysOfEvents(
  tx: Tx,
  projectId: ProjectId,
  events: readonly Uuid[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ShortHash[]> {
  const { rows } = await tx.run(FIND_OF_EVENTS, [`(${from},0)`, `(${to},0)`, projectId, uuids(events)]);
  return rows.map(([hash]) => readText(hash));
}
