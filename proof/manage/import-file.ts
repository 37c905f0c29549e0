import { setTimeout as pause } from "node:timers/promises";
import { Caller } from "../harness/caller.ts";
import { countRows, type Database, watchTransactions } from "../harness/database.ts";
import { expectEqual } from "../harness/figures.ts";
import type { Project } from "../harness/project.ts";
import { Service, verify } from "../harness/purser.ts";
import { CHECK_IMPORTED, makeOpeningFile } from "./opening-file.ts";

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
  readonly database: Database;
  readonly project: Project;
  readonly rows: number;
  readonly stack: AsyncDisposableStack;
};

/** Imports the file, kills the service in the middle of it, and sends the file again to another one, which it returns. */
export async function importThroughAKill(parts: Parts): Promise<{ service: Service; result: ImportResult }> {
  const { database, project, rows, stack } = parts;
  const csv = makeOpeningFile(rows);
  const first = await Service.start(database.url, stack);
  const dry = await send(first, project, csv, "&dryRun=true");
  expectEqual("a dry run would make all of them", dry.report["created"], rows);
  expectEqual("a dry run makes nobody", await countCustomers(database), 0);

  const interrupted = send(first, project, csv).then(
    () => Promise.reject(new Error("the import was over before the kill")),
    () => {},
  );
  while ((await countCustomers(database)) < rows / 2) await pause(50);
  await Promise.all([first.kill(), interrupted]);
  // What was under way when the process died may still be at its commit.
  await pause(1_000);
  const killedAfterRows = await countCustomers(database);
  if (killedAfterRows >= rows) throw new Error("the kill came too late");

  const service = await Service.start(database.url, stack);
  const watch = watchTransactions(database);
  const second = await send(service, project, csv);
  expectEqual("the rest was made", second.report["created"], rows - killedAfterRows);
  expectEqual("the others were as they should be", second.report["unchanged"], killedAfterRows);
  const repeat = await send(service, project, csv);
  const transactionMsMax = await watch.stop();
  expectEqual("once more changes nothing", repeat.report["unchanged"], rows);
  await checkImported(database, rows);
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
  service: Service,
  project: Project,
  csv: string,
  more = "",
): Promise<{ report: Record<string, unknown>; seconds: number }> {
  const sent = { body: csv, headers: { "content-type": "text/csv" } };
  const { text, ms } = await new Caller(service, project).call("POST", `imports?name=opening${more}`, sent);
  const report: Record<string, unknown> = JSON.parse(text);
  expectEqual("failed rows", report["failed"], 0);
  return { report, seconds: ms / 1_000 };
}

function countCustomers(database: Database): Promise<number> {
  return countRows(database, "cell.customers");
}

async function checkImported(database: Database, rows: number): Promise<void> {
  const [found = {}] = await database.query(CHECK_IMPORTED);
  const at = (name: string): number => Number(found[name]);
  expectEqual("customers", at("customers"), rows);
  expectEqual("customers of the file", at("distinctCustomers"), rows);
  expectEqual("wrong balances", at("wrongBalances"), 0);
  expectEqual("opening grants", at("openingGrants"), at("openingBalances"));
  expectEqual("references given twice", at("repeatedReferences"), 0);
  await verify(database.url);
}
