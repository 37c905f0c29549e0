import type { PeriodKind } from "../../entitlement/period.ts";
import { readInstant, readText } from "../../postgres/column.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

/** What a plan is to say from its next version on. Everything by key: what costs stand behind is pinned at publishing. */
export type PlanTerms = {
  readonly name: string;
  readonly allowances: readonly {
    readonly pool: string;
    readonly credits: number;
    readonly period: PeriodKind;
    readonly rollover: number;
  }[];
  readonly features: readonly {
    readonly feature: string;
    readonly limit: { readonly quantity: number; readonly period: PeriodKind } | null;
  }[];
};

export type PlanDraft = PlanTerms & {
  /** Of a plan that may have no version yet. */
  readonly key: string;
  readonly changedAt: Instant;
};

const UPSERT = statement(
  "plan_drafts.upsert",
  `
  insert into cell.plan_drafts (environment_id, plan_key, content, changed_at)
  values ($1, $2, $3::jsonb, $4)
  on conflict on constraint plan_drafts_pkey do update
  set
    content = excluded.content,
    changed_at = excluded.changed_at`,
);

export function upsertPlanDraft(tx: Tx, environmentId: EnvironmentId, draft: PlanDraft): Promise<Rows> {
  const { key, changedAt, name, allowances, features } = draft;
  const content = JSON.stringify({ name, allowances, features } satisfies PlanTerms);
  return tx.run(UPSERT, [environmentId, key, content, formatTimestamp(changedAt)]);
}

const LIST = statement(
  "plan_drafts.list",
  `
  select
    plan_key,
    content::text,
    (extract(epoch from changed_at) * 1000)::bigint
  from cell.plan_drafts
  where environment_id = $1
  order by plan_key`,
);

export async function listPlanDrafts(tx: Tx, environmentId: EnvironmentId): Promise<PlanDraft[]> {
  const { rows } = await tx.run(LIST, [environmentId]);
  return rows.map(readDraft);
}

const FIND = statement(
  "plan_drafts.find",
  `
  select
    plan_key,
    content::text,
    (extract(epoch from changed_at) * 1000)::bigint
  from cell.plan_drafts
  where environment_id = $1
    and plan_key = $2`,
);

export async function findPlanDraft(
  tx: Tx,
  environmentId: EnvironmentId,
  key: string,
): Promise<PlanDraft | null> {
  const { rows } = await tx.run(FIND, [environmentId, key]);
  return rows[0] === undefined ? null : readDraft(rows[0]);
}

const DELETE = statement(
  "plan_drafts.delete",
  `
  delete from cell.plan_drafts
  where environment_id = $1
    and plan_key = $2`,
);

export function deletePlanDraft(tx: Tx, environmentId: EnvironmentId, key: string): Promise<Rows> {
  return tx.run(DELETE, [environmentId, key]);
}

function readDraft([key, content, changedAt]: readonly unknown[]): PlanDraft {
  // jsonb keeps its own order of fields.
  const { name, allowances, features }: PlanTerms = JSON.parse(readText(content));
  return {
    key: readText(key),
    name,
    allowances: allowances.map(({ pool, credits, period, rollover }) => ({
      pool,
      credits,
      period,
      rollover,
    })),
    features: features.map(({ feature, limit }) => ({ feature, limit })),
    changedAt: readInstant(changedAt),
  };
}
