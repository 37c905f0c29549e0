import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type PgbenchOptions = {
  url: string;
  /** A file beside this one, without its ending. */
  script: string;
  seconds: number;
  clients: number;
  variables?: Readonly<Record<string, number>>;
};

/** Statements prepared once for each client, the keys of each run distinct from those of any other. */
export async function runPgbench(
  options: PgbenchOptions,
): Promise<{ perSecond: number; transactions: number }> {
  const variables = { n: 0, run: randomNumber(), ...options.variables };
  const { stdout } = await run(
    "pgbench",
    [
      ...["-n", "-M", "prepared", "-j", "2"],
      ...Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
      ...["-c", String(options.clients), "-T", String(options.seconds)],
      ...["-f", join(import.meta.dirname, `${options.script}.sql`), options.url],
    ],
    { env: { PATH: `${process.env["PATH"]}:/usr/lib/postgresql/15/bin`, LC_ALL: "C" } },
  );
  const perSecond = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1]);
  const transactions = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1]);
  const failed = Number(/failed transactions: (\d+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0 && transactions > 0 && failed === 0)) {
    throw new Error(`pgbench did not do what was asked:\n${stdout}`);
  }
  return { perSecond, transactions };
}

/** pgbench's variables are numbers. */
function randomNumber(): number {
  return Number.parseInt(randomUUID().slice(0, 8), 16);
}
