import { Type } from "typebox";
import { FILE_BYTES_MAX, readText } from "../../edge/csv-body.ts";
import { callerOf, Turns, tellInterruption, WAITING_FOR_CALLERS } from "../bulk/turns.ts";
import { keyField, nullable } from "../fields.ts";
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

const ImportAnswer = Type.Object({
  outcome: Type.Enum(["completed", "stopped"], {
    description: "Stopped: at a row with an error, as asked for, or where the file could not be read on.",
  }),
  isDryRun: Type.Boolean({ description: "Nothing was written: this is what would be done." }),
  rows: count("Rows that were looked at, without the header."),
  created: count("Customers who were not known."),
  changed: count("Customers who were known and now have another profile, plan or balance."),
  unchanged: count("Customers of whom everything was as the file says."),
  failed: count("Rows with errors. Nothing of such a row was done."),
  planChanged: count("Rows that gave another plan, or a later end of it."),
  creditsAdded: count("Rows that added credits."),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({ description: "As a spreadsheet counts: the header is row 1.", examples: [17] }),
      column: nullable(Type.String({ description: "Null: the whole row.", examples: ["plan"] })),
      code: Type.String({ examples: ["unknown_key"] }),
      message: Type.String({ examples: ["is no plan of this environment"] }),
    }),
    { description: "The first 50." },
  ),
});

/** Many customers at once, from a file. */
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
        "Try it with `dryRun=true` first: it judges every row and writes nothing. An empty cell leaves what there is. " +
        "Credits without a `reference` get one of the import's `name` and the customer, so the same file can be sent again " +
        "under the same name, after an interruption say, and adds nothing twice. A row is done as a whole or not at all; the " +
        "others are done all the same, unless `onError=stop`. Send at least 8 KiB a second on average: a slower upload is stopped " +
        "where it is. An environment has two imports at a time. If your session, token or role ends meanwhile, the import stops with " +
        "`sign_in_required` or `role_missing`; the rows before that stay done.",
      params: Type.Object(environmentParams),
      query: Type.Object(
        {
          name: Type.String({
            ...keyField,
            description: "What you call this import.",
            examples: ["opening-2026-11"],
          }),
          dryRun: Type.Optional(Type.Enum(["true", "false"], { description: "By default `false`." })),
          onError: Type.Optional(
            Type.Enum(["continue", "stop"], { description: "By default `continue`, with the next row." }),
          ),
        },
        { additionalProperties: false },
      ),
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
          isDryRun ? run() : tellInterruption(run),
        );
        return { isDryRun, ...report, errors: [...report.errors] };
      },
    }),
  ];
}
