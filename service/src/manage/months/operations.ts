import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { nextUtcMonth } from "../../primitives/utc-month.ts";
import { Turns } from "../bulk/turns.ts";
import { exactTotal } from "../exact-total.ts";
import { timeOf } from "../fields.ts";
import { describeWindow, historyStartOf, notBefore, windowAnswer } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type ClosedMonth, closeMonth, type MonthRange } from "./close-month.ts";

const amount = (description: string) => Type.Integer({ description, examples: [1_200] });

const AMOUNTS = ["opening", "granted", "used", "expired", "revoked", "reversed", "closing"] as const;

export const Month = Type.Object({
  ...windowAnswer,
  month: Type.String({ examples: ["2026-11"] }),
  from: timeOf("Start of the month, or of the history window if that is later.", "2026-11-01T00:00:00.000Z"),
  to: timeOf("End of the month, or now.", "2026-12-01T00:00:00.000Z"),
  completeTo: timeOf(
    "The figures are final up to this time. Later expiries and allowances that are due but not yet written are included as " +
      "if written now; the customer's next request writes them.",
    "2026-11-28T09:12:44.120Z",
  ),
  isFinal: Type.Boolean({
    description:
      "True if the month is over and its figures are final. Always false for a month that starts before the history window.",
  }),
  lines: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      kind: Type.Enum(["allowance", "purchase", "manual", "promotion"], {
        description: "The kind of grant.",
      }),
      opening: amount("The balance at `from`."),
      granted: amount("Granted credits."),
      used: amount("Charged credits."),
      expired: amount("Expired credits, including those that ended with a plan."),
      revoked: amount("Revoked credits."),
      reversed: amount("Credits returned by reversals."),
      closing: amount("The balance at `to`."),
    }),
    {
      description:
        "`opening + granted - used - expired - revoked + reversed = closing`, exactly. If the sum of a pool exceeds 2^53 - 1, the response is " +
        "`total_too_large`.",
    },
  ),
  overage: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      used: amount("Overage credits used, to be invoiced."),
      reversed: amount("Overage that reversals in the month undid, of any month."),
    }),
    { description: "Only pools with overage. Not part of any balance." },
  ),
});

export function monthOperations({ control, cellOf }: ManageParts): Operation[] {
  const turns = new Turns();
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/months/:month`,
      access: { role: "viewer", in: "environment" },
      id: "readMonth",
      noun: "Months",
      summary: "Read a monthly statement",
      description:
        "A roll-forward of all customers' credits, by pool and kind of grant, in UTC. A month's closing balance is the next month's opening " +
        "balance. Reads every wallet and all entries since the start of the month in short statements: about a second per 100,000 customers " +
        "or entries. Each process computes at most two monthly statements at a time.",
      params: Type.Object({
        ...environmentParams,
        month: Type.String({
          pattern: "^[12]\\d{3}-(0[1-9]|1[0-2])$",
          description: "Year and month in UTC.",
          examples: ["2026-11"],
        }),
      }),
      answer: Month,
      codes: ["overloaded", "ledger_detached", "total_too_large"],
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const { month } = call.params;
        const start = await historyStartOf(control, call);
        const range = rangeOf(month, start);
        const isWanted = (): boolean => !call.reply.raw.destroyed;
        const closed =
          range === null
            ? null
            : await turns.take(environmentId, () =>
                closeMonth(cellOf(scopeOf(call)), environmentId, range, isWanted),
              );
        if (range === null || closed === null) throw notFound();
        return { ...describe(month, range, closed), ...describeWindow(start) };
      },
    }),
  ];
}

/** The part of the month within the history window. Null if the whole month is before it. */
function rangeOf(month: string, start: Instant | null): MonthRange | null {
  const first = firstOf(month);
  const to = nextUtcMonth(first);
  const from = notBefore(start, first);
  return from < to ? { from, to } : null;
}

function firstOf(month: string): Instant {
  return brandAs<Instant>(Date.parse(`${month}-01T00:00:00Z`));
}

function describe(
  month: string,
  { from, to }: MonthRange,
  { until, completeTo, lines, overage }: ClosedMonth,
): Omit<Static<typeof Month>, "windowStart"> {
  return {
    month,
    from: formatTimestamp(from),
    to: formatTimestamp(until),
    completeTo: formatTimestamp(completeTo),
    isFinal: completeTo === to && from === firstOf(month),
    lines: exactLines(lines),
    overage: overage.map(({ pool, used, reversed }) => ({
      pool,
      used: exactTotal(used),
      reversed: exactTotal(reversed),
    })),
  };
}

/**
 * Converts the amounts for JSON. Also checks the sum of each pool, because callers add up its kinds and must not round. No amount
 * is negative.
 */
function exactLines(lines: ClosedMonth["lines"]): Static<typeof Month>["lines"] {
  for (const ofPool of Map.groupBy(lines, ({ pool }) => pool).values())
    for (const amount of AMOUNTS) exactTotal(ofPool.reduce((total, line) => total + line[amount], 0n));
  return lines.map((line) => ({
    pool: line.pool,
    kind: line.kind,
    opening: exactTotal(line.opening),
    granted: exactTotal(line.granted),
    used: exactTotal(line.used),
    expired: exactTotal(line.expired),
    revoked: exactTotal(line.revoked),
    reversed: exactTotal(line.reversed),
    closing: exactTotal(line.closing),
  }));
}

function notFound(): Problem {
  return new Problem("not_found", {
    detail: "This month has not started, or is before the workspace's history window.",
  });
}
