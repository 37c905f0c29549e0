import type { PeriodKind } from "../../entitlement/period.ts";
import { readText } from "../../postgres/column.ts";
import { column, derive, describeRow, findRow, instant, listRows, text } from "../../postgres/row.ts";
import { type Rows, statement, type Tx } from "../../postgres/statement.ts";
import type { EnvironmentId, Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";

/** The content of a plan's next version. Pools and features are identified by key. Publishing the version pins their IDs and costs. */
export type PlanTerms = {
  readonly name: string;
  readonly allowances: readonly {
    readonly pool: string;
    readonly credits: number;
    readonly period: PeriodKind;
    readonly rollover: number;
    /** Null if unlimited. */
    readonly overage: number | null;
  }[];
  readonly features: readonly {
    readonly feature: string;
    readonly limit: { readonly quantity: number; readonly period: PeriodKind } | null;
  }[];
};

export type PlanDraft = PlanTerms & {
  /** The plan's key. The plan may have no published version yet. */
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

const DRAFT = derive(
  describeRow({
    key: text("d.plan_key"),
    terms: column((value): PlanTerms => JSON.parse(readText(value)), "d.content::text"),
    changedAt: instant("d.changed_at"),
  }),
  // Rebuilt field by field, because jsonb does not keep the order of fields.
  ({ key, terms: { name, allowances, features }, changedAt }): PlanDraft => ({
    key,
    name,
    // Drafts of release 0.1 have no overage.
    allowances: allowances.map(({ pool, credits, period, rollover, overage = 0 }) => ({
      pool,
      credits,
      period,
      rollover,
      overage,
    })),
    features: features.map(({ feature, limit }) => ({ feature, limit })),
    changedAt,
  }),
);

const LIST = statement(
  "plan_drafts.list",
  `
  select ${DRAFT.columns}
  from cell.plan_drafts as d
  where d.environment_id = $1
  order by d.plan_key`,
);

export function listPlanDrafts(tx: Tx, environmentId: EnvironmentId): Promise<PlanDraft[]> {
  return listRows(tx, LIST, [environmentId], DRAFT);
}

const FIND = statement(
  "plan_drafts.find",
  `
  select ${DRAFT.columns}
  from cell.plan_drafts as d
  where d.environment_id = $1
    and d.plan_key = $2`,
);

export function findPlanDraft(tx: Tx, environmentId: EnvironmentId, key: string): Promise<PlanDraft | null> {
  return findRow(tx, FIND, [environmentId, key], DRAFT);
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
