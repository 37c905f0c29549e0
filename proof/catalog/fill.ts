import { countRows, type Database } from "../harness/database.ts";
import type { Project } from "../harness/project.ts";

export type Size = { readonly features: number; readonly plans: number; readonly publications: number };

/** Adds plans that include every feature. Publishes each plan once, and then `publications` more versions, spread over the plans. */
export async function fillCatalog(database: Database, { context }: Project, size: Size): Promise<number> {
  const { environmentId } = context;
  const run = (text: string): Promise<unknown> => database.query(text);
  await run(`
    insert into cell.features (environment_id, key, name, unit, pool_id, cost_credits, cost_per)
    select ${environmentId}, 'feature.' || lpad(n::text, 4, '0'), 'Feature ' || n, 'call', p.id, 1 + n % 50, 1
    from generate_series(1, ${size.features}) as n
    join cell.pools as p on p.environment_id = ${environmentId}`);
  await run(`
    insert into cell.plans (environment_id, key, name, document_bytes)
    select ${environmentId}, 'plan.' || lpad(n::text, 3, '0'), 'Plan ' || n, ${130 * size.features}
    from generate_series(1, ${size.plans}) as n`);
  await run(`
    insert into cell.plan_versions (environment_id, plan_id, number, published_at, reach)
    select ${environmentId}, p.id, v.number, now(), 'new_assignments'
    from (
      select 1 + (n - 1) % ${size.plans} as plan, 1 + (n - 1) / ${size.plans} as number
      from generate_series(1, ${size.plans + size.publications}) as n
    ) as v
    join cell.plans as p
      on p.environment_id = ${environmentId}
      and p.key = 'plan.' || lpad(v.plan::text, 3, '0')`);
  await run(`
    insert into cell.plan_allowances (environment_id, plan_version_id, pool_id, credits, period, rollover)
    select v.environment_id, v.id, o.id, 1000000, 'month', 0
    from cell.plan_versions as v
    join cell.plans as p on p.environment_id = v.environment_id and p.id = v.plan_id and p.key like 'plan.%'
    join cell.pools as o on o.environment_id = v.environment_id`);
  await run(`
    insert into cell.plan_features
      (environment_id, plan_version_id, feature_id, pool_id, cost_credits, cost_per, limit_quantity, limit_period)
    select v.environment_id, v.id, f.id, f.pool_id, f.cost_credits, f.cost_per, 100000, 'month'
    from cell.plan_versions as v
    join cell.plans as p on p.environment_id = v.environment_id and p.id = v.plan_id and p.key like 'plan.%'
    join cell.features as f on f.environment_id = v.environment_id and f.key like 'feature.%'`);
  return countRows(database, "cell.plan_features");
}
