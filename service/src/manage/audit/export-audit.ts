import { Readable } from "node:stream";
import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { PAGE_SIZE_MAX } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { type AuditEntry, type AuditSearch, listAudit } from "./list-audit.ts";

/**
 * Exports audit entries as one JSON object per line, newest first. Reads a page only after the previous page was sent, so a slow
 * client slows down the export.
 */
export async function exportAudit(
  parts: ManageParts,
  search: Omit<AuditSearch, "limit">,
  reader: {
    readonly actor: Actor;
    readonly ended: AbortSignal;
    /** Throws if the reader has lost access. */
    readonly admitAgain: () => Promise<void>;
  },
  describe: (entry: AuditEntry) => object,
): Promise<Readable> {
  await noteExport(parts.control, search, reader.actor);
  async function* write(): AsyncGenerator<Buffer> {
    for (let before = search.before; ; ) {
      const { entries, next } = await listAudit(parts, { ...search, before, limit: PAGE_SIZE_MAX });
      reader.ended.throwIfAborted();
      await reader.admitAgain();
      const lines = entries.map((entry) => `${JSON.stringify(describe(entry))}\n`);
      if (lines.length > 0) yield Buffer.from(lines.join(""));
      if (next === null) return;
      before = next;
    }
  }
  return Readable.from(write());
}

/** Records the export before its first byte is sent. */
async function noteExport(
  control: Pool,
  { workspaceId, scope, customerId, filter, before, from }: Omit<AuditSearch, "limit">,
  actor: Actor,
): Promise<void> {
  const after = {
    format: "ndjson",
    before,
    from,
    projectId: scope === null ? null : String(scope.projectId),
    environment: scope?.environment ?? null,
    // The audit log stores no customer IDs, only whether the export was limited to one customer.
    isOneCustomer: customerId !== null,
    actor: filter.actor && [filter.actor.kind, filter.actor.id].filter((part) => part !== null).join(":"),
    action: filter.actionPrefix,
    collapseBulk: filter.collapsesBulk,
  };
  await transaction(control, (tx) =>
    insertControlAudit(tx, {
      workspaceId,
      actor,
      action: "audit.exported",
      subject: "audit",
      before: null,
      after,
    }),
  );
}
