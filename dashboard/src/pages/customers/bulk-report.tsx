import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import type { BulkPreview, BulkProgress } from "./bulk-assignment.ts";
import type { Customer } from "./queries.ts";

type Effect = BulkPreview["sample"][number];

const COLUMNS: readonly Column<Effect>[] = [
  { name: "Customer", isWide: true, cell: ({ before }) => before.name ?? before.customerId },
  {
    name: "Plan",
    hidesWhenNarrow: true,
    cell: ({ before, after }) => `${before.plan?.name ?? "None"} → ${after.plan?.name ?? "None"}`,
  },
  {
    name: "Balance",
    isNumber: true,
    cell: ({ before, after }) => `${balancesOf(before)} → ${balancesOf(after)}`,
  },
];

/** How many it changes, and the first of them. */
export function BulkPreviewView({
  preview: { matching, changed, wouldShorten, sample },
}: {
  preview: BulkPreview;
}) {
  const unchanged = matching - changed - wouldShorten;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p>
        <span className="font-semibold">
          {changed === 0
            ? "Nothing will change."
            : `${formatCount(changed)} of ${countOf(matching, "customer")} will change.`}
        </span>{" "}
        {unchanged > 0 && `${formatCount(unchanged)} with the plan already keep all as it is.`}{" "}
        {wouldShorten > 0 && `${formatCount(wouldShorten)} have the plan with a later end, and keep it.`}
      </p>
      {sample.length > 0 && (
        <div className="overflow-hidden rounded-md border border-line">
          <Table
            label="The first of them, before and after"
            columns={COLUMNS}
            rows={sample}
            keyOf={({ before }) => before.customerId}
          />
        </div>
      )}
    </div>
  );
}

export function BulkRunning({ progress, parts }: { progress: BulkProgress | null; parts: number }) {
  return (
    <div role="status" className="flex flex-col gap-1">
      <progress
        aria-label="How far it is"
        className="h-2 w-full accent-accent"
        max={parts}
        {...(parts === 1 ? {} : { value: progress?.partsDone ?? 0 })}
      />
      <p className="text-caption text-muted">
        {formatCount(progress?.changed ?? 0)} changed so far. Stopping is safe: who has the plan keeps it.
      </p>
    </div>
  );
}

export function BulkDone({
  done: { changed, unchanged, wouldShorten, skipped },
  plan,
  onClose,
}: {
  done: BulkProgress;
  plan: string;
  onClose: () => void;
}) {
  return (
    <>
      <div role="status">
        <Callout
          tone="good"
          title={changed === 0 ? "Nothing changed" : `${countOf(changed, "customer")} changed to ${plan}`}
        >
          {formatCount(unchanged)} had it already
          {wouldShorten === 0 ? "" : `, ${formatCount(wouldShorten)} keep a later end`}
          {skipped === 0 ? "." : `, and ${formatCount(skipped)} were no longer meant when it was their turn.`}
        </Callout>
      </div>
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          Close
        </Button>
      </DialogActions>
    </>
  );
}

function balancesOf({ balances }: Customer): string {
  return balances.map(({ balance }) => formatCount(balance)).join(" / ") || "0";
}
