import type { Pool } from "../../postgres/pool.ts";
import { listEventKeys } from "../../store/cell/event-keys.ts";
import type { EventKeyContent } from "../catalog/content.ts";
import { beginWriting, writeEventKey } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";

/** Only for people: an event needs no name, and none changes what is stored. */
export function nameEventKey(cell: Pool, context: Context, input: EventKeyContent): Promise<void> {
  const { environmentId } = context;
  const { key, name, unit } = input;
  return editCatalog(cell, context, async (tx, catalog, at) => {
    const before = (await listEventKeys(tx, environmentId)).find((other) => other.key === key) ?? null;
    const writing = beginWriting(tx, environmentId, catalog, at);
    return { outcome: undefined, audits: await writeEventKey(writing, before, { key, name, unit }) };
  });
}
