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
import type { ManageParts } from "../parts.ts";
import { importCustomers } from "./import-customers.ts";
import { COLUMNS } from "./import-row.ts";
import { ROWS_MAX, readRows } from "./read-rows.ts";

const count = (description: string) => Type.Integer({ description, examples: [0] });

export const ImportAnswer = Type.Object({
  outcome: Type.Enum(["completed", "stopped"], {
    description:
      "`stopped` means that the import stopped at an error with `onError=stop`, or where the file cannot be parsed.",
  }),
  isDryRun: Type.Boolean({
    description: "True if nothing was written: the counts show what would be done.",
  }),
  rows: count("The number of processed rows, without the header."),
  created: count("The number of new customers."),
  changed: count("The number of existing customers whose profile, plan or balance changed."),
  unchanged: count("The number of customers who already matched the file."),
  failed: count("The number of rows with errors. Such a row changes nothing."),
  planChanged: count("The number of rows that changed the plan or its end date."),
  creditsAdded: count("The number of rows that added credits."),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({
        description: "Row number as in a spreadsheet: the header is row 1.",
        examples: [17],
      }),
      column: nullable(
        Type.String({ description: "Null if the error concerns the whole row.", examples: ["plan"] }),
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
      method: "POST",
      path: `${ENVIRONMENT_PATH}/imports`,
      access: { role: "operator", in: "environment" },
      id: "importCustomers",
      noun: "Bulk",
      summary: "Import customers with plans and opening balances",
      description:
        `Takes a CSV file in UTF-8: commas, double quotes, a header with \`customerId\` and any of ${COLUMNS.slice(
          1,
        )
          .map((column) => `\`${column}\``)
          .join(", ")}; at most ${ROWS_MAX} rows and ${FILE_BYTES_MAX / 2 ** 20} MiB. ` +
        "Use `dryRun=true` first: it checks every row and writes nothing. An empty cell keeps the current value. If credits " +
        "have no `reference`, Purser derives one from the import's `name` and the customer. Sending the same file again " +
        "under the same name adds nothing twice. Each row is all or nothing; a failed row does not stop the others, unless " +
        "`onError=stop`. Send at least 8 KiB per second on average, or the upload is stopped. An environment can run two " +
        "imports at a time. If your session, token or role ends, the import stops with `sign_in_required` or `role_missing`; " +
        "earlier rows are kept.",
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
            description: "Default: `continue`, which skips the failed row.",
          }),
        ),
      }),
      takesCsv: true,
      body: Type.String({
        examples: ["customerId,name,plan,credits\ncustomer_42,Acme GmbH,pro,250\ncustomer_43,Initech,free,"],
      }),
      answer: ImportAnswer,
      codes: ["overloaded"],
      handle: async (call) => {
        const { name, dryRun, onError } = call.query;
        const isDryRun = dryRun === "true";
        const job = {
          cell: cellOf(scopeOf(call).cell),
          context: contextOf(call),
          name,
          isDryRun,
          stopsOnError: onError === "stop",
        };
        const run = () => importCustomers(job, readRows(readText(call.request)), callerOf(call));
        const report = await turns.take(scopeOf(call).environmentId, () =>
          isDryRun ? run() : reportInterruption(run),
        );
        return { isDryRun, ...report, errors: [...report.errors] };
      },
    }),
  ];
}
