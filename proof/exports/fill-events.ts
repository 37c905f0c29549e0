import type { Database } from "../harness/database.ts";
import type { Project } from "../harness/project.ts";

export const CUSTOMERS = 10_000;
const CHUNK = 500_000;
const DAYS = 80;

/** Inserts events from eighty days and ten thousand customers. One event in ten arrived late, and one in a hundred has a rare event key. */
export async function fillEvents(database: Database, { context }: Project, events: number): Promise<void> {
  const { environmentId } = context;
  await database.query(
    `insert into cell.customers (environment_id, customer_id, created_at)
     select ${environmentId}, 'customer_' || n, now() - interval '${DAYS} days'
     from generate_series(1, ${CUSTOMERS}) as n`,
  );
  await database.query("select cell.ensure_monthly_partitions(4, 1)");
  for (let from = 0; from < events; from += CHUNK) {
    const until = Math.min(events, from + CHUNK);
    await database.query(
      `insert into cell.events
         (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, metadata, request_id)
       select
         e.recorded_at,
         (lpad(to_hex((extract(epoch from e.recorded_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(e.n::text), 14))::uuid,
         ${environmentId},
         c.first + e.n::bigint * 7919 % ${CUSTOMERS},
         case when e.n % 100 = 0 then 'rare.event' else 'tokens.generated' end,
         1 + e.n % 1000,
         e.recorded_at - case when e.n % 10 = 0 then (e.n % 30) * interval '1 day' else interval '0' end,
         jsonb_build_object('model', case when e.n % 1000 = 0 then 'huge' else 'large' end, 'n', e.n),
         'req_' || e.n
       from (
         select n, date_trunc('milliseconds', now() - interval '${DAYS} days' * (${events} - n) / ${events}) - interval '1 minute' as recorded_at
         from generate_series(${from + 1}, ${until}) as n
       ) as e
       cross join (
         select min(number) as first from cell.customers where environment_id = ${environmentId}
       ) as c`,
    );
  }
  await database.query("analyze cell.events");
}
