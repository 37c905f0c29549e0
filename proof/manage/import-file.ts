import { setTimeout as pause } from "node:timers/promises";
import { Caller } from "../harness/caller.ts";
import { countRows, type Database, watchTransactions } from "../harness/database.ts";
import { expectEqual } from "../harness/figures.ts";
import { PLANS, type Project } from "../harness/project.ts";
import { Service, verify } from "../harness/purser.ts";

export type ImportResult = {
  readonly dryRunSeconds: number;
  readonly killedAfterRows: number;
  /** Duration of the second import, which creates the remaining customers. */
  readonly secondSeconds: number;
  /** Duration of the third import, which changes nothing. */
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

/** Imports a file, kills the service during the import, and imports the file again through a new service, which it returns. */
export async function importThroughAKill(parts: Parts): Promise<{ service: Service; result: ImportResult }> {
  const { database, project, rows, stack } = parts;
  const csv = makeOpeningFile(rows);
  const first = await Service.start(database.url, stack);
  const dry = await send(first, project, csv, "&dryRun=true");
  expectEqual("created by the dry run", dry.report["created"], rows);
  expectEqual("customers after the dry run", await countCustomers(database), 0);

  const interrupted = send(first, project, csv).then(
    () => Promise.reject(new Error("the import ended before the kill")),
    () => {},
  );
  while ((await countCustomers(database)) < rows / 2) await pause(50);
  await Promise.all([first.kill(), interrupted]);
  // The last transaction of the killed process may still be committing.
  await pause(1_000);
  const killedAfterRows = await countCustomers(database);
  if (killedAfterRows >= rows) throw new Error("the kill came too late");

  const service = await Service.start(database.url, stack);
  const watch = watchTransactions(database);
  const second = await send(service, project, csv);
  expectEqual("created by the second import", second.report["created"], rows - killedAfterRows);
  expectEqual("unchanged by the second import", second.report["unchanged"], killedAfterRows);
  const repeat = await send(service, project, csv);
  const transactionMsMax = await watch.stop();
  expectEqual("unchanged by the third import", repeat.report["unchanged"], rows);
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
  expectEqual("distinct customers", at("distinctCustomers"), rows);
  expectEqual("wrong balances", at("wrongBalances"), 0);
  expectEqual("opening grants", at("openingGrants"), at("openingBalances"));
  expectEqual("repeated references", at("repeatedReferences"), 0);
  await verify(database.url);
}

// The number in a customer's ID determines the plan and credits, so that SQL can check every row.

const PLAN_OF = `case when n % 10 = 0 then null when n % 100 = 1 then 'free' else 'pro' end`;
const CREDITS_OF = "case when n % 7 = 0 then 0 else 1 + n % 1000 end";

/** Creates a file with customers `customer_0` and so on, in a mixed order. */
function makeOpeningFile(rows: number): string {
  const lines = ["customerId,name,email,billingReference,plan,credits"];
  for (let i = 0; i < rows; i++) {
    // 7,919 is a prime, so this visits every number once.
    const n = (i * 7_919) % rows;
    const plan = n % 10 === 0 ? "" : n % 100 === 1 ? "free" : "pro";
    const credits = n % 7 === 0 ? "" : String(1 + (n % 1_000));
    lines.push(`customer_${n},Company ${n},billing${n}@example.com,cus_${n},${plan},${credits}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Counts customers, wrong balances, and opening grants. */
const CHECK_IMPORTED = `
  with expected as (
    select c.environment_id, c.number, n, ${PLAN_OF} as plan, ${CREDITS_OF} as credits, w.balance
    from cell.customers as c
    cross join lateral (select substr(c.customer_id, 10)::integer as n) as i
    left join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
  )
  select
    (select count(*) from expected) as customers,
    (select count(distinct n) from expected) as "distinctCustomers",
    (
      select count(*) from expected as e
      where e.balance is distinct from e.credits + case e.plan
        ${Object.entries(PLANS)
          .map(([key, { allowance }]) => `when '${key}' then ${allowance.credits}`)
          .join(" ")} else 0 end
    ) as "wrongBalances",
    (select count(*) from expected as e where e.credits > 0) as "openingBalances",
    (select count(*) from cell.grants where kind = 3) as "openingGrants",
    (select count(reference) - count(distinct reference) from cell.grants) as "repeatedReferences"`;
