import { startVerify } from "../verify/run-verify.ts";
import { CHECK_IMPORTED, makeOpeningFile } from "./opening-file.ts";
import { DATABASE, type ProofServer, pause } from "./server.ts";
import { Service } from "./service.ts";
import type { Shop } from "./shop.ts";
import { watchTransactions } from "./watch-transactions.ts";

export type ImportResult = {
  readonly dryRunSeconds: number;
  readonly killedAfterRows: number;
  /** Of the whole file, to what was left of it. */
  readonly secondSeconds: number;
  /** Of the whole file, when all of it was done already. */
  readonly repeatSeconds: number;
  readonly transactionMsMax: number;
  readonly peakMegabytes: number;
};

type Parts = {
  readonly server: ProofServer;
  readonly shop: Shop;
  readonly rows: number;
  readonly stack: AsyncDisposableStack;
};

/** Imports the file, kills the service in the middle of it, and sends the file again to another one, which it returns. */
export async function importThroughAKill(parts: Parts): Promise<{ service: Service; result: ImportResult }> {
  const { server, shop, rows, stack } = parts;
  const csv = makeOpeningFile(rows);
  const first = await Service.start(server.databaseUrl, stack);
  const dry = await send(first, shop, csv, "&dryRun=true");
  expect("a dry run would make all of them", dry.report["created"], rows);
  expect("a dry run makes nobody", await countCustomers(server), 0);

  const interrupted = send(first, shop, csv).then(
    () => Promise.reject(new Error("the import was over before the kill")),
    () => {},
  );
  while ((await countCustomers(server)) < rows / 2) await pause(50);
  await Promise.all([first.kill(), interrupted]);
  // What was under way when the process died may still be at its commit.
  await pause(1_000);
  const killedAfterRows = await countCustomers(server);
  if (killedAfterRows >= rows) throw new Error("the kill came too late");

  const service = await Service.start(server.databaseUrl, stack);
  const watch = watchTransactions(server);
  const second = await send(service, shop, csv);
  expect("the rest was made", second.report["created"], rows - killedAfterRows);
  expect("the others were as they should be", second.report["unchanged"], killedAfterRows);
  const repeat = await send(service, shop, csv);
  const transactionMsMax = await watch.stop();
  expect("once more changes nothing", repeat.report["unchanged"], rows);
  await checkImported(server, rows);
  return {
    service,
    result: {
      dryRunSeconds: dry.seconds,
      killedAfterRows,
      secondSeconds: second.seconds,
      repeatSeconds: repeat.seconds,
      transactionMsMax,
      peakMegabytes: await service.peakMegabytes(),
    },
  };
}

async function send(
  { url }: Service,
  { here, token }: Shop,
  csv: string,
  more = "",
): Promise<{ report: Record<string, unknown>; seconds: number }> {
  const startMs = performance.now();
  const response = await fetch(`${url}${here}/imports?name=opening${more}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "text/csv" },
    body: csv,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the import was answered with ${text}`);
  const report: Record<string, unknown> = JSON.parse(text);
  expect("no row failed", report["failed"], 0);
  return { report, seconds: (performance.now() - startMs) / 1_000 };
}

async function countCustomers(server: ProofServer): Promise<number> {
  const [row = {}] = await server.query(DATABASE, "select count(*) as n from cell.customers");
  return Number(row["n"]);
}

async function checkImported(server: ProofServer, rows: number): Promise<void> {
  const [found = {}] = await server.query(DATABASE, CHECK_IMPORTED);
  const at = (name: string): number => Number(found[name]);
  expect("customers", at("customers"), rows);
  expect("customers of the file", at("distinctCustomers"), rows);
  expect("wrong balances", at("wrongBalances"), 0);
  expect("opening grants", at("openingGrants"), at("openingBalances"));
  expect("references given twice", at("repeatedReferences"), 0);
  const { code, output } = await startVerify(server.databaseUrl).ended;
  if (code !== 0) throw new Error(`purser verify ended with code ${code}: ${output}`);
}

export function expect(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(expected)} expected, ${String(found)} found`);
}
