import { Type } from "typebox";
import { FILE_BYTES_MAX, readText } from "../../edge/csv-body.ts";
import { callerOf, reportInterruption, Turns, WAITING_FOR_CALLERS } from "../bulk/turns.ts";
import { keyField, nullable, strictObject } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { importCustomers } from "./import-customers.ts";
import { COLUMNS } from "./import-row.ts";
import { listOpeningBalances, OpeningBalances } from "./list-opening-balances.ts";
import { ROWS_MAX, readRows } from "./read-rows.ts";

const count = (description: string) => Type.Integer({ description, examples: [0] });

export const ImportAnswer = Type.Object({
  outcome: Type.Enum(["completed", "stopped"], {
    description:
      "`stopped`: the import ended early, because of an error with `onError=stop` or because the file could not be parsed.",
  }),
  isDryRun: Type.Boolean({
    description: "True if nothing was written. The counts then show what the import would do.",
  }),
  rows: count("The number of processed rows, excluding the header."),
  created: count("The number of new customers."),
  changed: count("The number of existing customers whose profile, plan or balance changed."),
  unchanged: count("The number of customers who already matched the file."),
  failed: count(
    "The number of rows that were not imported. If one row has an error, no row of the same customer is imported.",
  ),
  planChanged: count(
    "The number of customers whose plan or plan end date changed, including new customers with a plan.",
  ),
  started: Type.Array(
    Type.Object({
      plan: Type.String({ description: "Plan key.", examples: ["pro"] }),
      customers: count("The number of new customers on this plan."),
    }),
    { description: "The number of new customers on each plan." },
  ),
  creditsAdded: count("The number of rows that added credits."),
  credits: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      allowance: Type.Integer({
        description:
          "Allowances of newly assigned plans, minus the part that the file reports as already used.",
        examples: [1000],
      }),
      purchase: Type.Integer({ description: "Purchased credits.", examples: [250] }),
      manual: Type.Integer({ description: "Credits added manually.", examples: [0] }),
      promotion: Type.Integer({ description: "Promotional credits.", examples: [0] }),
    }),
    {
      description:
        "The credits that the import adds, by pool and kind. Pools without new credits are left out.",
    },
  ),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({
        description: "Row number, as in a spreadsheet. The header is row 1.",
        examples: [17],
      }),
      column: nullable(
        Type.String({ description: "Null if the error applies to the whole row.", examples: ["plan"] }),
      ),
      code: Type.String({ examples: ["unknown_key"] }),
      message: Type.String({ examples: ['does not exist in this environment: "minutes"'] }),
    }),
    { description: "The first 50 errors." },
  ),
});

export function importOperations({ cellOf }: ManageParts): Operation[] {
  const turns = new Turns(WAITING_FOR_CALLERS);
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/opening-balances`,
      access: { role: "viewer", in: "environment" },
      id: "listOpeningBalances",
      noun: "Exports",
      summary: "List customers in import format",
      description:
        "Newest first. `purser export` writes these customers to an import file. Each page shows the customers at the time of the " +
        "call. Credits set aside by open holds are included. Allowance credits that the plan's latest version would not grant are " +
        "listed as manual credits with the same expiry. These are credits that rolled over, and credits from an override or an older " +
        "version.",
      params: Type.Object(environmentParams),
      query: strictObject(pageQuery),
      answer: pageOf(OpeningBalances),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const { cursor, limit } = call.query;
        const page = { before: readIdCursor(cursor), limit: readLimit(limit) };
        const { customers, next } = await listOpeningBalances(cellOf(scopeOf(call)), environmentId, page);
        return toPage(customers, next);
      },
    }),
    operation({
      method: "POST",
      path: `${ENVIRONMENT_PATH}/imports`,
      access: { role: "operator", in: "environment" },
      id: "importCustomers",
      noun: "Bulk",
      summary: "Import customers with plans and opening balances",
      description:
        `Takes a UTF-8 CSV file with commas and double quotes. The header contains \`customerId\` and any of ${COLUMNS.slice(
          1,
        )
          .map((column) => `\`${column}\``)
          .join(", ")}. The file can have at most ${ROWS_MAX} rows and ${FILE_BYTES_MAX / 2 ** 20} MiB. ` +
        "Use `dryRun=true` first: it checks every row and writes nothing. If a column has a default below, an " +
        "empty cell uses that default. Otherwise, an empty cell keeps the current value.\n\n" +
        "- `anchor` is the time from which a newly assigned plan counts its periods. Default: the time of the import.\n" +
        "- `allowanceRemaining` is the remaining part of the plan's allowance in the current period. It applies once, when the import " +
        "assigns the plan, and cannot exceed the allowance. Default: the full allowance.\n" +
        "- `credits` are added to the allowance. `kind` is `purchase`, `manual` (default) or `promotion`.\n" +
        "- `pool` is the pool of the row's `credits` and `allowanceRemaining`. Default: `credits`.\n" +
        "- To import several balances for a customer, use one row per balance. Keep these rows together.\n\n" +
        "If credits have no `reference`, Purser derives one from the import's `name`, the customer, pool, kind and expiry. If you import " +
        "the same file again under the same name, credits are not added twice. The rows of a customer are imported together or not at all. " +
        "An error for one customer does not stop the import, unless you send `onError=stop`.\n\n" +
        "An upload that is slower than 8 KiB per second on average is stopped. An environment can run two imports at a time. If your " +
        "session or token ends, or you lose the required role, the import stops with `sign_in_required` or `role_missing`. Rows that " +
        "were already imported are kept.",
      params: Type.Object(environmentParams),
      query: strictObject({
        name: Type.String({
          ...keyField,
          description: "Name of the import.",
          examples: ["opening-2026-11"],
        }),
        dryRun: Type.Optional(Type.Enum(["true", "false"], { description: "Default: `false`." })),
        onError: Type.Optional(
          Type.Enum(["continue", "stop"], {
            description: "Default: `continue`, which skips all rows of a customer with an error.",
          }),
        ),
      }),
      takesCsv: true,
      body: Type.String({
        examples: [
          "customerId,name,plan,anchor,allowanceRemaining,credits,kind\n" +
            "customer_42,Acme GmbH,pro,2026-01-15T00:00:00Z,300,250,purchase\ncustomer_43,Initech,free,,,,",
        ],
      }),
      answer: ImportAnswer,
      codes: ["overloaded"],
      handle: async (call) => {
        const { name, dryRun, onError } = call.query;
        const isDryRun = dryRun === "true";
        const job = {
          cell: cellOf(scopeOf(call)),
          context: contextOf(call),
          name,
          isDryRun,
          stopsOnError: onError === "stop",
        };
        const run = () => importCustomers(job, readRows(readText(call.request)), callerOf(call));
        const report = await turns.take(scopeOf(call).environmentId, () =>
          isDryRun ? run() : reportInterruption(run),
        );
        const [started, credits, errors] = [[...report.started], [...report.credits], [...report.errors]];
        return { isDryRun, ...report, started, credits, errors };
      },
    }),
  ];
}
