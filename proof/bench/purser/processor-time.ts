import { readFile } from "node:fs/promises";
import type { PostgresServer } from "../../harness/postgres.ts";

/** Milliseconds since the start of each process, by its ID. */
export type ProcessorTimes = ReadonlyMap<number, number>;

/** Reads the processor time of these processes, and of the backends of all connections to the database. */
export async function readProcessorTimes(
  server: PostgresServer,
  database: string,
  pids: readonly number[],
): Promise<ProcessorTimes> {
  const backends = await server.query(
    database,
    "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  const all = [...pids, ...backends.map(({ pid }) => Number(pid))];
  return new Map(await Promise.all(all.map(async (pid) => [pid, await readProcessorMs(pid)] as const)));
}

/** The time spent in between. A process that has ended since is not counted. */
export function millisecondsSince(before: ProcessorTimes, now: ProcessorTimes): number {
  let total = 0;
  for (const [pid, ms] of now) total += ms - (before.get(pid) ?? 0);
  return total;
}

/** Ticks of `/proc/PID/stat` per second, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Processor time of a process since its start, in user and system mode. */
async function readProcessorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The fields after the name of the program, which is in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000;
}
