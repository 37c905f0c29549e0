import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import type { Feature } from "../../api/catalog-lists.ts";
import { queryOf } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { randomHex } from "../../format/hex.ts";
import { GRANT_WORDS } from "../../format/ledger-words.ts";
import { countOf, formatChange, formatCount, formatStep } from "../../format/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { Dialog, WriteForm } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { BalanceChange } from "../credits/balance-change.tsx";
import { type Whose, whoseOf } from "../customers/queries.ts";
import type { Twin } from "./ledger-twins.ts";
import type { Entry, Grant, LedgerLine } from "./queries.ts";

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
  return (
    <WriteForm
      write={reverse}
      request={requestOf(quantity ?? left, typed.note ?? "")}
      action={describeAction(preview?.credits ?? 0, quantity ?? left)}
      isDisabled={quantity === null || preview === undefined}
      noValidate
      onSubmit={handleSubmit(({ note }) => {
        if (quantity !== null && preview !== undefined) reverse.mutate(requestOf(quantity, note));
      })}
      onClose={onDone}
    >
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
    </WriteForm>
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

type Return = ReversalPreview["returns"][number];

/** What goes back to which grants, and what becomes of it there. */
function ReversalReturns({ preview: { returns } }: { preview: ReversalPreview }) {
  if (returns.length === 0) {
    return <p>It cost no credits, so none go back. What was counted towards a limit no longer counts.</p>;
  }
  const lost = returns.reduce((sum, { credits, spendable }) => sum + credits - spendable, 0);
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-form font-medium">Goes back to</h3>
      <ul className="divide-y divide-line rounded-md border border-line">
        {returns.map((back) => (
          <li key={back.grant} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              {GRANT_WORDS[back.kind]}, grant {back.grant}
              <span className="block text-caption text-muted">
                <Stays back={back} /> {restInWords(back)}
              </span>
            </span>
            <span className="font-medium text-good tabular-nums">{formatChange(back.credits)}</span>
          </li>
        ))}
      </ul>
      {lost > 0 && (
        <Callout tone="warn">
          {countOf(lost, "credit")} of it cannot be spent now. Add credits instead if the customer should have
          them.
        </Callout>
      )}
    </div>
  );
}

function Stays({ back: { spendable, credits, expiresAt } }: { back: Return }) {
  if (spendable === 0) return null;
  const what = spendable === credits ? "Can be spent again" : `${formatCount(spendable)} can be spent again`;
  if (expiresAt === null) return `${what}, without an end.`;
  return (
    <>
      {what} until <Time at={expiresAt} />.
    </>
  );
}

function restInWords({ spendable, credits, rest }: Return): string | null {
  const what = spendable === 0 ? "this" : `the other ${formatCount(credits - spendable)}`;
  switch (rest) {
    case "revoked":
      return `It was revoked, so ${what} is taken back again at once.`;
    case "expired":
      return `It is over, so ${what} expires again at once.`;
    case "waiting":
      return `The customer has left its plan: ${what} waits with the plan, and counts once it is taken up again.`;
    default:
      return null;
  }
}

type ReversalPreview = Answer<"previewReversal">;

/** What reversing a charge would do, as the API decides it now. Null: all that is left of it. */
function reversalPreviewQuery(whose: Whose, consumeId: string, quantity: number | null) {
  return queryOptions({
    ...queryOf(
      "post",
      "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse/preview",
      { params: { path: { ...whoseOf(whose), consumeId } }, body: { quantity } },
    ),
    // Once for each opening: what changes later is found out by trying.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { tellsFailures: true },
  });
}
