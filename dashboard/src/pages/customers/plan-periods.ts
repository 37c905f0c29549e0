import type { Actor } from "./audit-actors.ts";
import type { PlanChange, PlanLine } from "./ledger-queries.ts";

/** From one change of a plan to the next one. */
export type PlanPeriod = {
  readonly id: number;
  readonly change: PlanChange;
  readonly by: Actor | null;
  /** When something else followed; null while it lasts. */
  readonly until: string | null;
  /** Who ended it, where nothing took its place. */
  readonly endedBy: Actor | null;
  readonly isNow: boolean;
  /** All that this line stands for. */
  readonly changes: readonly PlanChange[];
};

/** Lines come newest first, and an end stands over what it ends: it is told there, unless that is on the next page. */
export function toPeriods(lines: readonly PlanLine[], now: number): PlanPeriod[] {
  return lines.flatMap((line, index): PlanPeriod[] => {
    const { change, by } = line;
    const isLast = index === lines.length - 1;
    if (change.change === "ended" && !isLast) return [];
    const newer = lines[index - 1];
    const isEnded = newer?.change.change === "ended" && change.change !== "ended";
    const isReplaced = isEnded && lines[index - 2]?.change.recordedAt === newer.change.recordedAt;
    return [
      {
        id: index,
        change,
        by,
        until: newer === undefined ? null : newer.change.effectiveAt,
        endedBy: isEnded && !isReplaced ? newer.by : null,
        isNow: newer === undefined && change.change !== "ended" && !isOver(change, now),
        changes: isEnded ? [newer.change, change] : [change],
      },
    ];
  });
}

/** An end that has come is written when somebody looks. */
function isOver({ endsAt }: PlanChange, now: number): boolean {
  return endsAt !== null && Date.parse(endsAt) <= now;
}
