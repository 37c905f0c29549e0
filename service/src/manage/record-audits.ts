import type { Tx } from "../postgres/statement.ts";
import type { Instant } from "../primitives/brand.ts";
import { insertAudits } from "../store/cell/audit.ts";
import type { Context } from "./context.ts";

/** An audit entry that is not about one customer. */
export type EnvironmentAudit = {
  readonly action: string;
  /** A key in the catalog, or another name. */
  readonly subject: string;
  readonly before: object | null;
  readonly after: object | null;
};

export async function recordAudits(
  tx: Tx,
  { environmentId, actor }: Context,
  recordedAt: Instant,
  audits: readonly EnvironmentAudit[],
): Promise<void> {
  if (audits.length === 0) return;
  await insertAudits(
    tx,
    audits.map((audit) => ({ ...audit, environmentId, recordedAt, actor, customerNumber: null })),
  );
}
