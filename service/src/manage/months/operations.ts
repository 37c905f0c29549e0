import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { nextUtcMonth } from "../../primitives/utc-month.ts";
import { Turns } from "../bulk/turns.ts";
import { exactTotal } from "../exact-total.ts";
import { describeWindow, historyStartOf, notBefore, windowAnswer } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { type ClosedMonth, closeMonth, type MonthRange } from "./close-month.ts";

const amount = (description: string) => Type.Integer({ description, examples: [1_200] });

const AMOUNTS = ["opening", "granted", "used", "expired", "revoked", "reversed", "closing"] as const;

const Month = Type.Object({
  ...windowAnswer,
  month: Type.String({ examples: ["2026-11"] }),
  from: Type.String({
    format: "date-time",
    description: "The month's beginning; or that of the history window, if it lies within the month.",
    examples: ["2026-11-01T00:00:00.000Z"],
  }),
  to: Type.String({
    format: "date-time",
    description: "The month's end, or now.",
    examples: ["2026-12-01T00:00:00.000Z"],
  }),
  completeTo: Type.String({
    format: "date-time",
    description:
      "Up to here the figures are final. What fell due later, an expiry or a new period's allowance of somebody who was not seen " +
      "since, is counted as if they were seen now, and is written when they are.",
    examples: ["2026-11-28T09:12:44.120Z"],
  }),
  isFinal: Type.Boolean({
    description:
      "The month is over, and its figures are final. Never of a month that the history window cuts off, whose opening moves with it.",
  }),
  lines: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      kind: Type.Enum(["allowance", "purchase", "manual", "promotion"], {
        description: "How the credits had been given.",
      }),
      opening: amount("What there was at `from`."),
      granted: amount("Given."),
      used: amount("Charged."),
      expired: amount("Expired, or ended with a plan."),
      revoked: amount("Taken back."),
      reversed: amount("Charges that were given back."),
      closing: amount("What there was at `to`."),
    }),
    {
      description:
        "`opening + granted - used - expired - revoked + reversed = closing`, to the credit. What the kinds of a pool come to together is " +
        "exact as well: beyond 2^53 - 1 the month is refused with `total_too_large`.",
    },
  ),
});

/** How many credits there were, came and went. */
export function monthOperations({ control, cellOf }: ManageParts): Operation[] {
  const turns = new Turns();
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/months/:month`,
      access: { role: "viewer", in: "environment" },
      id: "readMonth",
      noun: "Months",
      summary: "Close a month's books",
      description:
        "A roll-forward of all customers' credits by pool and kind of grant, by when things happened, in UTC. A month's closing is the " +
        "next one's opening. It looks at every wallet and at all entries since the month began, a short statement at a time: about a " +
        "second for 100,000 customers or entries. A process does two at a time.",
      params: Type.Object({
        ...environmentParams,
        month: Type.String({
          pattern: "^[12]\\d{3}-(0[1-9]|1[0-2])$",
          description: "Year and month, in UTC.",
          examples: ["2026-11"],
        }),
      }),
      answer: Month,
      codes: ["overloaded", "ledger_detached", "total_too_large"],
      handle: async (call) => {
        const { cell, environmentId } = scopeOf(call);
        const { month } = call.params;
        const start = await historyStartOf(control, call);
        const range = rangeOf(month, start);
        const isWanted = (): boolean => !call.reply.raw.destroyed;
        const closed =
          range === null
            ? null
            : await turns.take(environmentId, () => closeMonth(cellOf(cell), environmentId, range, isWanted));
        if (range === null || closed === null) throw notFound();
        return { ...describe(month, range, closed), ...describeWindow(start) };
      },
    }),
  ];
}

/** Null: all of it lies before the history window. */
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
  { until, completeTo, lines }: ClosedMonth,
): Omit<Static<typeof Month>, "windowStart"> {
  return {
    month,
    from: formatTimestamp(from),
    to: formatTimestamp(until),
    completeTo: formatTimestamp(completeTo),
    isFinal: completeTo === to && from === firstOf(month),
    lines: exactLines(lines),
  };
}

/** Of whole pools, too: readers add up the kinds of each, and must not have to round. No amount is negative. */
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
    detail: "This month has not begun, or lies before the history window of the workspace.",
  });
}
