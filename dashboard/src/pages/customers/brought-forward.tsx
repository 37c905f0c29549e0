import type { Answer } from "../../api/answer.ts";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";

/** Where a ledger is cut off: what came before it, so that what is shown sums to the balance. */
export function BroughtForward({ pools }: { pools: Answer<"listLedger">["broughtForward"] }) {
  return (
    <section aria-label="Brought forward" className="border-t border-line px-4 py-3">
      <ul className="space-y-1">
        {pools.map(({ pool, amount, before }) => (
          <li key={pool} className="flex items-baseline justify-between gap-4">
            <span>
              <span className="font-medium">Brought forward</span>{" "}
              <span className="text-muted">
                in {pool}, from before <Time at={before} />
              </span>
            </span>
            <span className="font-medium tabular-nums">{formatCount(amount)}</span>
          </li>
        ))}
      </ul>
      <p className="mt-1 text-caption text-muted">
        What moved before is kept and counts in every balance, but is not shown.
      </p>
    </section>
  );
}
