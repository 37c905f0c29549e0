import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import { type LedgerContext, leftOf } from "./ledger-context.ts";
import type { Entry } from "./ledger-queries.ts";
import { ReverseForm } from "./reverse-form.tsx";

/** Undoes a charge: one click to see what would happen, and one to do it. */
export function ReverseButton({
  entry,
  context: { whose, features, twins, mayReverse },
}: {
  entry: Entry;
  context: LedgerContext;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const name = features.find(({ key }) => key === entry.feature)?.name ?? entry.feature;
  return (
    <>
      {mayReverse && leftOf(entry) > 0 && (
        <span className="-my-1.5 -mr-2 inline-flex">
          <Button tone={twins.has(entry.sequence) ? "plain" : "quiet"} onClick={() => setOpen(true)}>
            Reverse<span className="sr-only"> entry {entry.sequence}</span>
          </Button>
        </span>
      )}
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title="Reverse a charge"
        note={
          <>
            {name} × {formatCount(entry.quantity ?? 1)} was charged {countOf(-entry.amount, "credit")} on{" "}
            <Time at={entry.effectiveAt} />.
          </>
        }
      >
        <ReverseForm whose={whose} entry={entry} onDone={close} />
      </Dialog>
    </>
  );
}
