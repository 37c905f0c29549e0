import type { Stored } from "../check/stored.ts";

const milliseconds = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/** One statement for each table, with the names that `Stored` gives its columns. */
export const TABLES = {
  events: `
    select
      e.id::text as "id",
      e.metadata ->> 'marker' as "marker",
      c.customer_id as "customerId",
      e.event as "event",
      e.quantity as "quantity",
      e.feature_id as "featureId"
    from cell.events as e
    left join cell.customers as c
      on c.environment_id = e.environment_id
      and c.number = e.customer_number`,
  keys: `
    select
      k.key as "key",
      k.key_hash::text as "keyHash",
      k.endpoint as "endpoint",
      k.subject_id::text as "subjectId"
    from cell.keyed_requests as k`,
  customers: `
    select c.number as "number", c.customer_id as "customerId"
    from cell.customers as c`,
  wallets: `
    select
      w.customer_number as "customer",
      w.sequence as "sequence",
      ${milliseconds("w.decided_at")} as "decidedAtMs",
      w.balance as "balance",
      w.state as "state"
    from cell.wallets as w`,
  grants: `
    select
      g.customer_number as "customer",
      g.number as "number",
      g.pool_id as "pool",
      (array['allowance', 'purchase', 'manual', 'promotion'])[g.kind] as "kind",
      g.credits as "credits",
      ${milliseconds("g.expires_at")} as "expiresAtMs",
      g.merged_into as "mergedInto",
      g.revoked_at is not null as "isRevoked",
      g.reference as "reference"
    from cell.grants as g`,
  ledger: `
    select
      l.customer_number as "customer",
      l.sequence as "sequence",
      ${milliseconds("l.recorded_at")} as "recordedAtMs",
      ${milliseconds("coalesce(l.effective_at, l.recorded_at)")} as "effectiveAtMs",
      (array['grant', 'consume', 'expire', 'revoke', 'reverse'])[l.kind] as "kind",
      l.pool_id as "pool",
      l.amount as "amount",
      l.balance_after as "balanceAfter",
      l.parts as "parts",
      f.key as "feature",
      l.quantity as "quantity",
      l.plan_version_id as "planVersion",
      l.assignment_number as "assignment",
      l.reverses as "reverses",
      l.key_hash::text as "keyHash",
      l.metadata ->> 'marker' as "marker"
    from cell.ledger as l
    left join cell.features as f
      on f.environment_id = l.environment_id
      and f.id = l.feature_id`,
  denials: `
    select
      d.id::text as "id",
      d.customer_number as "customer",
      ${milliseconds("d.recorded_at")} as "recordedAtMs",
      d.sequence as "sequence",
      (array[
        'customer_blocked', 'customer_not_found', 'no_active_plan', 'feature_not_in_plan', 'limit_reached',
        'insufficient_credits'
      ])[d.reason] as "reason",
      f.key as "feature",
      d.quantity as "quantity",
      d.credits_required as "creditsRequired",
      d.balance as "balance",
      d.limit_quantity as "limitQuantity",
      d.limit_used as "limitUsed",
      d.plan_version_id as "planVersion",
      d.key_hash::text as "keyHash",
      d.metadata ->> 'marker' as "marker"
    from cell.denials as d
    left join cell.features as f
      on f.environment_id = d.environment_id
      and f.id = d.feature_id`,
  assignments: `
    select
      a.customer_number as "customer",
      ${milliseconds("a.recorded_at")} as "recordedAtMs",
      (array['started', 'resumed', 'extended', 'version_changed', 'ended', 'shortened'])[a.change] as "kind",
      a.plan_id as "plan",
      a.is_default as "isDefault"
    from cell.assignments as a
    order by a.id`,
  pools: `
    select p.id as "id", p.key as "key"
    from cell.pools as p`,
  features: `
    select f.id as "id", f.key as "key"
    from cell.features as f`,
  plans: `
    select p.id as "id", p.key as "key"
    from cell.plans as p`,
  planVersions: `
    select v.id as "id", v.plan_id as "plan"
    from cell.plan_versions as v`,
} as const satisfies Record<keyof Stored, string>;

/** How many rows each must have given, and in how many environments they are. */
export const COUNTS = `
  select
    (select count(*) from cell.events) as "events",
    (select count(*) from cell.keyed_requests) as "keys",
    (select count(*) from cell.customers) as "customers",
    (select count(*) from cell.wallets) as "wallets",
    (select count(*) from cell.grants) as "grants",
    (select count(*) from cell.ledger) as "ledger",
    (select count(*) from cell.denials) as "denials",
    (select count(*) from cell.assignments) as "assignments",
    (select count(*) from cell.pools) as "pools",
    (select count(*) from cell.features) as "features",
    (select count(*) from cell.plans) as "plans",
    (select count(*) from cell.plan_versions) as "planVersions",
    (
      select count(distinct r.environment_id)
      from (
        select c.environment_id from cell.customers as c
        union select w.environment_id from cell.wallets as w
        union select g.environment_id from cell.grants as g
        union select l.environment_id from cell.ledger as l
        union select d.environment_id from cell.denials as d
        union select k.environment_id from cell.keyed_requests as k
        union select e.environment_id from cell.events as e
      ) as r
    ) as "environments"`;
