import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Feature } from "../../api/catalog-lists.ts";
import { refresh } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { randomHex } from "../../format/hex.ts";
import { countOf, formatCount, formatStep } from "../../format/numbers.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { BalanceChange } from "../credits/balance-change.tsx";
import type { Whose } from "../customers/queries.ts";
import type { Twin } from "./ledger-twins.ts";
import type { Entry, Grant, LedgerLine } from "./queries.ts";
import { type ReversalPreview, ReversalReturns, reversalPreviewQuery } from "./reversal-preview.tsx";

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

type Fields = { quantity: string; note: string };

type Props = { whose: Whose; entry: Entry; onDone: () => void };

/** What is left of the charge is asked for when the dialog opens: the list may be older. */
function ReverseForm({ whose, entry, onDone }: Props) {
  const { data: all, error } = useQuery(reversalPreviewQuery(whose, entry.consumeId ?? "", null));
  if (error !== null) return <ProblemCallout error={error} />;
  if (all === undefined) return <SkeletonRows rows={4} />;
  return <Reversing whose={whose} entry={entry} all={all} onDone={onDone} />;
}

function Reversing({ whose, entry, all, onDone }: Props & { all: ReversalPreview }) {
  const { quantity: left } = all;
  const { register, handleSubmit, control, formState } = useForm<Fields>({
    defaultValues: { quantity: String(left), note: "" },
    mode: "onChange",
  });
  const typed = useWatch({ control });
  const quantity = readQuantity(typed.quantity ?? "", left);
  const part = useQuery({
    ...reversalPreviewQuery(whose, entry.consumeId ?? "", quantity),
    enabled: quantity !== null && quantity !== left,
  });
  const preview = quantity === null || quantity === left ? all : part.data;
  const before = (preview ?? all).balanceBefore;
  const { requestOf, reverse } = useReversal({ whose, entry, onDone }, before);
  const submit = handleSubmit((fields) => {
    if (quantity === null || preview === undefined || reverse.isPending) return;
    reverse.mutate(requestOf(quantity, fields.note));
  });
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)} noValidate>
      {left > 1 && (
        <TextField
          label="Quantity to reverse"
          inputMode="numeric"
          autoComplete="off"
          hint={`All ${formatCount(left)} that are left of it, or fewer.`}
          error={formState.errors.quantity?.message}
          {...register("quantity", {
            validate: (text) =>
              readQuantity(text, left) !== null || `A whole number from 1 to ${formatCount(left)}.`,
          })}
        />
      )}
      {preview === undefined ? (
        <Pending error={part.error} />
      ) : (
        <>
          <ReversalReturns preview={preview} />
          <BalanceChange
            pool={preview.pool}
            before={preview.balanceBefore}
            gain={preview.balanceAfter - preview.balanceBefore}
          />
        </>
      )}
      <TextField
        label="Reason"
        hint="Stands in the ledger beside the reversal. You may leave it empty."
        maxLength={1_000}
        autoComplete="off"
        autoFocus
        {...register("note")}
      />
      <ProblemCallout error={reverse.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          tone="primary"
          isBusy={reverse.isPending}
          isDisabled={quantity === null || preview === undefined}
        >
          {inEnvironment(describeAction(preview?.credits ?? 0, quantity ?? left), whose.environment)}
        </Button>
      </DialogActions>
      <ApiCall call={reverse.callOf(requestOf(quantity ?? left, typed.note ?? ""))} />
    </form>
  );
}

function Pending({ error }: { error: unknown }) {
  return error === null ? (
    <p className="text-muted">Working out what goes back…</p>
  ) : (
    <ProblemCallout error={error} />
  );
}

function readQuantity(text: string, max: number): number | null {
  const quantity = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0;
  return quantity >= 1 && quantity <= max ? quantity : null;
}

function describeAction(credits: number, quantity: number): string {
  return credits === 0 ? `Reverse ${formatCount(quantity)}` : `Reverse ${countOf(credits, "credit")}`;
}

const REVERSE_PATH =
  "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse";

function useReversal({ whose, entry, onDone }: Props, before: number) {
  // Names this very reversal: whatever is sent twice, by a double click or after a lost answer, happens once.
  const [reference] = useState(() => `dashboard-${randomHex(12)}`);
  const requestOf = (quantity: number, note: string) => ({
    params: { path: { ...whose, consumeId: entry.consumeId ?? "" } },
    body: { quantity, reference, ...(note.trim() === "" ? {} : { note: note.trim() }) },
  });
  const reverse = useWrite("post", REVERSE_PATH, {
    onSuccess: ({ credits, quantity, customer }) => {
      const after = customer.balances.find(({ pool }) => pool === entry.pool)?.balance ?? 0;
      tell(
        `${entry.feature} × ${formatCount(quantity)} reversed`,
        `${countOf(credits, "credit")} went back. Balance ${formatStep(before, after)}`,
      );
      onDone();
    },
    // After a refusal too: somebody else may have been first.
    onSettled: () => refresh("customers"),
  });
  return { requestOf, reverse };
}

/** What a line of the ledger is told with. */
export type LedgerContext = {
  readonly whose: Whose;
  readonly lines: readonly LedgerLine[];
  readonly grants: readonly Grant[];
  readonly features: readonly Feature[];
  readonly twins: ReadonlyMap<number, Twin>;
  readonly mayReverse: boolean;
};

/** How much of a charge's quantity was not reversed. */
function leftOf({ kind, quantity, reversedQuantity }: Entry): number {
  return kind === "consume" ? (quantity ?? 0) - (reversedQuantity ?? 0) : 0;
}
