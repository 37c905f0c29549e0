import pg from "pg";
import type { Database } from "../harness/database.ts";
import type { Project } from "../harness/project.ts";
import { KEYS, RARE_KEY, RARE_MODEL, type World } from "./world.ts";

/** Rows per transaction, which the job rolls up in one step. Up to 100,000 rows are allowed (decision 12), in several steps. */
const CHUNK = 20_000;
/** Number of events for each charge. */
const EVENTS_PER_CHARGE = 40;

const LATE_MS_MAX = 34 * 24 * 3_600_000;

/** Creates all customers, and one more past partition than a migration creates. */
export async function prepare(database: Database, { context }: Project, { customers, from }: World) {
  await database.query("select cell.ensure_monthly_partitions(12, 1)");
  await database.query(
    `do $$
     declare
       month timestamptz := date_trunc('month', '${iso(from)}'::timestamptz, 'UTC');
       name text;
       part text;
     begin
       foreach name in array array['events', 'ledger', 'denials'] loop
         part := format('%s_%s', name, to_char(month at time zone 'UTC', 'YYYY_MM'));
         continue when to_regclass('cell.' || part) is not null;
         execute format('create table cell.%I partition of cell.%I for values from (%L) to (%L)',
           part, name, month, (month at time zone 'UTC' + interval '1 month') at time zone 'UTC');
       end loop;
     end
     $$`,
  );
  await database.query(
    `insert into cell.customers (environment_id, customer_id, created_at)
     select ${context.environmentId}, 'customer_' || n, '${iso(from)}'
     from generate_series(1, ${customers}) as n`,
  );
  await database.query("analyze cell.customers");
}

/**
 * Inserts the events in time order, spread evenly over 13 months, while the job rolls them up. The indexes for lists are created
 * afterward, which takes a third less work. The indexes that the roll-up needs are kept.
 */
export async function fillEvents(
  database: Database,
  project: Project,
  world: World,
  events: number,
): Promise<void> {
  const client = new pg.Client(database.url);
  // Ignored, because the running statement reports the same error.
  client.on("error", () => {});
  await client.connect();
  try {
    // Safe, because a run that crashes is repeated from the start.
    await client.query("set synchronous_commit = off");
    const { rows: indexes } = await client.query(
      `select pg_get_indexdef(i.oid) as definition
       from unnest(array['cell.events_environment', 'cell.events_customer']::regclass[]) as i (oid)`,
    );
    await client.query("drop index cell.events_environment, cell.events_customer");
    for (let from = 0; from < events; from += CHUNK) {
      const chunk = { from: from + 1, until: Math.min(events, from + CHUNK), events };
      await client.query("begin");
      // The same events in every run, except for their times.
      await client.query(`select setseed(${(from % 1_000_003) / 1_000_003})`);
      await client.query(eventsOf(project, world, chunk));
      await client.query(chargesOf(project, world, chunk));
      await client.query("commit");
    }
    for (const { definition } of indexes) await client.query(String(definition).replace(" ON ONLY ", " ON "));
  } finally {
    await client.end();
  }
}

type Chunk = {
  readonly from: number;
  readonly until: number;
  readonly events: number;
};

/** SQL for the recording time of the event with this number, in milliseconds. */
function recordedMs({ from, to }: World, { events }: Chunk): string {
  return `(${from} + n * ${(to - from) / events}::double precision)::bigint`;
}

/**
 * A few customers are very busy: of 100,000, the first has a tenth of all events, the first thousand have two fifths, and the
 * quieter half together has an eighth. Each uses six keys. One event in fifty is late, most by hours, some by weeks.
 */
function eventsOf({ context: { environmentId } }: Project, world: World, chunk: Chunk): string {
  const keys = KEYS.map((key) => `'${key}'`).join(", ");
  return `
    insert into cell.events
      (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, metadata, request_id)
    select
      to_timestamp(e.ms / 1000::double precision),
      (lpad(to_hex(e.ms), 12, '0') || '7' || substr(md5(e.n::text), 14))::uuid,
      ${environmentId},
      c.first + e.rank,
      case
        when e.n % 100000 = 0 then '${RARE_KEY}'
        when e.which < 0.5 then (array[${keys}])[1 + floor(e.which * 6)::integer]
        else (array[${keys}])[4 + (e.rank * 7 + floor(e.which * 6)::bigint) % 17]
      end,
      1 + floor(1000 * e.amount)::integer,
      to_timestamp((e.ms - case when e.late < 0.02 then floor((e.late * 50) ^ 8 * ${LATE_MS_MAX}) else 0 end) / 1000),
      jsonb_build_object(
        'model', case when e.amount < 0.001 then '${RARE_MODEL}' when e.late < 0.3 then 'large' else 'small' end,
        'region', (array['eu', 'us', 'ap'])[1 + floor(e.amount * 3)::integer],
        'tokens', e.n % 5000
      ),
      'req_' || e.n
    from (
      select
        n,
        ${recordedMs(world, chunk)} as ms,
        floor(${world.customers} * random() ^ 5)::bigint as rank,
        random() as which,
        random() as amount,
        random() as late
      from generate_series(${chunk.from}, ${chunk.until}) as n
    ) as e
    cross join (
      select min(number) as first from cell.customers where environment_id = ${environmentId}
    ) as c`;
}

/** Ledger entries as charges write them. There are no wallets, because only usage is measured. */
function chargesOf({ context: { environmentId } }: Project, world: World, chunk: Chunk): string {
  return `
    insert into cell.ledger (
      recorded_at, customer_number, sequence, amount, balance_after, environment_id, pool_id, feature_id, quantity, kind, parts
    )
    select
      to_timestamp(${recordedMs(world, chunk)} / 1000::double precision), c.first + n % ${world.customers}, n, -10 * (1 + n % 5), 0,
      ${environmentId}, f.pool_id, f.id, 1 + n % 5, 2, ''
    from generate_series(${chunk.from}, ${chunk.until}) as n
    cross join (
      select min(number) as first from cell.customers where environment_id = ${environmentId}
    ) as c
    join (
      select pool_id, id, row_number() over (order by id) as place
      from cell.features
      where environment_id = ${environmentId}
    ) as f on f.place = 1 + n / ${EVENTS_PER_CHARGE} % 2
    where n % ${EVENTS_PER_CHARGE} = 0`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
