import type { ShortHash } from "../../entitlement/fingerprint.ts";
import { hexUuids } from "../../postgres/binary-array.ts";
import { readText } from "../../postgres/column.ts";
import { statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, ProjectId } from "../../words/brand.ts";

// One look-up in one partition for each.
const LIST = statement(
  "keyed_requests.list_texts",
  `
  select encode(uuid_send(k.key_hash), 'hex'), q.key
  from unnest($2::uuid[]) as k (key_hash)
  cross join lateral (
    select q.key
    from cell.keyed_requests as q
    where q.project_id = $1
      -- The other environment may have used the same key, and whoever reads this may not know of it.
      and q.environment_id = $3
      and q.key_hash = k.key_hash
      -- Of an erased customer's key the text is gone.
      and q.key <> ''
  ) as q`,
);

/** The idempotency keys of these hashes that this environment used, as written. A bounded key may have ended: then there is none. */
export async function listKeyTexts(
  tx: Tx,
  { projectId, environmentId }: { readonly projectId: ProjectId; readonly environmentId: EnvironmentId },
  keyHashes: readonly ShortHash[],
): Promise<Map<ShortHash, string>> {
  if (keyHashes.length === 0) return new Map();
  const { rows } = await tx.run(LIST, [projectId, hexUuids([...new Set(keyHashes)]), environmentId]);
  return new Map(rows.map(([hash, key]) => [readText(hash), readText(key)]));
}
