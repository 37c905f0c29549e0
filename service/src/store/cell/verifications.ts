import { readBoolean, readInstant, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { Instant } from "../../primitives/brand.ts";

export type VerificationKind = "ledger" | "usage";

/** The last result of `purser verify` or `purser verify --usage`. */
export type Verification = {
  readonly kind: string;
  readonly isSound: boolean;
  readonly finishedAt: Instant;
};

const SAVE = statement(
  "verifications.save",
  `
  insert into cell.verifications (kind, is_sound, finished_at)
  values ($1, $2, clock_timestamp())
  on conflict (kind) do update
  set
    is_sound = excluded.is_sound,
    finished_at = excluded.finished_at`,
);

export function saveVerification(
  tx: Tx,
  { kind, isSound }: { readonly kind: VerificationKind; readonly isSound: boolean },
): Promise<Rows> {
  return tx.run(SAVE, [kind, isSound]);
}

const LIST = statement(
  "verifications.list",
  `
  select kind, is_sound, (extract(epoch from finished_at) * 1000)::bigint
  from cell.verifications
  order by kind`,
);

export async function listVerifications(tx: Tx): Promise<Verification[]> {
  const { rows } = await tx.run(LIST);
  return rows.map(([kind, isSound, finishedAt]) => ({
    kind: readText(kind),
    isSound: readBoolean(isSound),
    finishedAt: readInstant(finishedAt),
  }));
}
