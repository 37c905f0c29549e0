import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import type { Feature } from "../../api/catalog-lists.ts";
import { queryOf } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { randomHex } from "../../format/hex.ts";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { countOf, formatChange, formatCount } from "../../format/numbers.ts";
import { describeReversedOverage, formatCharge, formatReturn } from "../../format/overage.ts";
import { useFeatureNames } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { Dialog, WriteForm } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { BalanceChange } from "../credits/balance-change.tsx";
import { type CustomerScope, customerScopeOf } from "../customers/queries.ts";
import type { Duplicate } from "./ledger-duplicates.ts";
import type { Entry, Grant, LedgerLine } from "./queries.ts";

/** Reverses a charge after a preview. */
export function ReverseButton({
  entry,
  context: { customerScope, customerName, features, duplicates, mayReverse },
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
          <Button tone={duplicates.has(entry.sequence) ? "plain" : "quiet"} onClick={() => setOpen(true)}>
            Reverse<span className="sr-only"> entry {entry.sequence}</span>
          </Button>
        </span>
      )}
      {/* Closed dialogs in every row would slow down the list. */}
      {isOpen && (
        <Dialog
          isOpen
          onClose={close}
          title="Reverse charge"
          note={
            <>
              {formatCharge({ credits: -entry.amount, overage: entry.overage })}{" "}
              {entry.overage - entry.amount === 1 ? "was" : "were"} charged to {customerName} for {name} ×{" "}
              {formatCount(entry.quantity ?? 1)} on <Time at={entry.effectiveAt} />.
              {entry.item !== null && " The other items in the request are not reversed."}
            </>
          }
        >
          <ReverseForm customerScope={customerScope} entry={entry} onDone={close} />
        </Dialog>
      )}
    </>
  );
}

type Fields = { quantity: string; note: string };

type Props = { customerScope: CustomerScope; entry: Entry; onDone: () => void };

/** Reads the reversible quantity when the dialog opens, because the list can be stale. */
function ReverseForm({ customerScope, entry, onDone }: Props) {
  const { data: all, error } = useQuery(reversalPreviewQuery(customerScope, entry, null));
  if (error !== null) return <ProblemCallout error={error} />;
  if (all === undefined) return <SkeletonRows rows={4} />;
  return <Reversing customerScope={customerScope} entry={entry} all={all} onDone={onDone} />;
}

function Reversing({ customerScope, entry, all, onDone }: Props & { all: ReversalPreview }) {
  const { quantity: left } = all;
  const { register, handleSubmit, control, formState } = useForm<Fields>({
    defaultValues: { quantity: String(left), note: "" },
    mode: "onChange",
  });
  const typed = useWatch({ control });
  const quantity = readQuantity(typed.quantity ?? "", left);
  const part = useQuery({
    ...reversalPreviewQuery(customerScope, entry, quantity),
    enabled: quantity !== null && quantity !== left,
  });
  const preview = quantity === null || quantity === left ? all : part.data;
  const { requestOf, reverse } = useReversal({ customerScope, entry, onDone });
  return (
    <WriteForm
      write={reverse}
      request={requestOf(quantity ?? left, typed.note ?? "")}
      action={describeAction(preview, quantity ?? left)}
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
          hint={`At most ${formatCount(left)}.`}
          error={formState.errors.quantity?.message}
          {...register("quantity", {
            validate: (text) =>
              readQuantity(text, left) !== null || `Enter a whole number from 1 to ${formatCount(left)}.`,
          })}
        />
      )}
      {preview === undefined ? (
        <Pending error={part.error} />
      ) : (
        <>
          <ReversalReturns preview={preview} overage={describeReversedOverage(preview.overageCredits)} />
          <BalanceChange
            pool={preview.pool}
            before={preview.balanceBefore}
            gain={preview.balanceAfter - preview.balanceBefore}
          />
        </>
      )}
      <TextField
        label="Reason"
        hint="Optional. Shown in the ledger."
        maxLength={1_000}
        autoComplete="off"
        autoFocus
        {...register("note")}
      />
    </WriteForm>
  );
}

function Pending({ error }: { error: unknown }) {
  return error === null ? <p className="text-muted">Loading preview…</p> : <ProblemCallout error={error} />;
}

function readQuantity(text: string, max: number): number | null {
  const quantity = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0;
  return quantity >= 1 && quantity <= max ? quantity : null;
}

function describeAction(preview: ReversalPreview | undefined, quantity: number): string {
  const { credits = 0, overageCredits: overage = 0 } = preview ?? {};
  return credits + overage === 0
    ? `Reverse ${countOf(quantity, "unit")}`
    : `Reverse ${formatCharge({ credits, overage })}`;
}

const REVERSE_PATH =
  "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse";

function useReversal({ customerScope, entry, onDone }: Props) {
  const nameOf = useFeatureNames();
  // Makes the reversal idempotent across double clicks and retries.
  const [reference] = useState(() => `dashboard-${randomHex(12)}`);
  const requestOf = (quantity: number, note: string) => ({
    params: { path: { ...customerScope, consumeId: entry.consumeId ?? "" } },
    body: { ...itemOf(entry), quantity, reference, ...(note.trim() === "" ? {} : { note: note.trim() }) },
  });
  const reverse = useWrite("post", REVERSE_PATH, {
    onSuccess: ({ credits, overageCredits, quantity, customer }) => {
      const after = customer.balances.find(({ pool }) => pool === entry.pool)?.balance ?? 0;
      notify(
        `Reversed ${nameOf(entry.feature ?? "")} × ${formatCount(quantity)}`,
        `${formatReturn({ credits, overage: overageCredits })}. Balance ${formatCount(after)}`,
      );
      onDone();
    },
    // Refresh even after an error, because the charge may already be reversed.
    onSettled: () => refresh("customers"),
  });
  return { requestOf, reverse };
}

/** Selects one charge of a request that has several. */
function itemOf({ item }: Entry): { item?: number } {
  return item === null ? {} : { item };
}

/** Data needed to render a ledger row. */
export type LedgerContext = {
  readonly customerScope: CustomerScope;
  readonly customerName: string;
  readonly nameOfPool: (key: string) => string;
  readonly lines: readonly LedgerLine[];
  readonly grants: readonly Grant[];
  readonly features: readonly Feature[];
  readonly duplicates: ReadonlyMap<number, Duplicate>;
  readonly mayReverse: boolean;
};

/** Quantity of a charge that can still be reversed. */
function leftOf({ kind, quantity, reversedQuantity }: Entry): number {
  return kind === "consume" ? (quantity ?? 0) - (reversedQuantity ?? 0) : 0;
}

type Return = ReversalPreview["returns"][number];

/** Credits returned per grant, and whether they can be spent. `overage` describes the reversed overage, if there is any. */
function ReversalReturns({
  preview: { returns },
  overage,
}: {
  preview: ReversalPreview;
  overage: string | null;
}) {
  if (returns.length === 0)
    return (
      <p>
        {overage ?? "This charge was free. Reversing it only reduces the usage counted toward the limit."}
      </p>
    );
  const lost = returns.reduce((sum, { credits, spendable }) => sum + credits - spendable, 0);
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-form font-medium">Returned credits</h3>
      <ul className="divide-y divide-line rounded-md border border-line">
        {returns.map((back) => (
          <li key={back.grant} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              {GRANT_NAMES[back.kind]} (grant {back.grant})
              <span className="block text-caption text-muted">
                <Stays back={back} /> {describeRest(back)}
              </span>
            </span>
            <span className="font-medium text-good tabular-nums">{formatChange(back.credits)}</span>
          </li>
        ))}
      </ul>
      {overage !== null && <p>{overage}</p>}
      {lost > 0 && (
        <Callout tone="warn">
          {formatCount(lost)} of these credits cannot be spent now. To compensate the customer, add credits.
        </Callout>
      )}
    </div>
  );
}

function Stays({ back: { spendable, credits, expiresAt } }: { back: Return }) {
  if (spendable === 0) return null;
  const what = spendable === credits ? "Can be spent again" : `${formatCount(spendable)} can be spent again`;
  if (expiresAt === null) return `${what}, with no expiry date.`;
  return (
    <>
      {what} until <Time at={expiresAt} />.
    </>
  );
}

function describeRest({ spendable, credits, rest }: Return): string | null {
  const rests = credits - spendable;
  const isOne = rests === 1;
  const all = isOne ? "this credit" : "these credits";
  const what = spendable === 0 ? all : `the other ${formatCount(rests)}`;
  switch (rest) {
    case "revoked":
      return `The grant was revoked, so ${what} ${isOne ? "is" : "are"} revoked immediately.`;
    case "expired":
      return `The grant has expired, so ${what} ${isOne ? "expires" : "expire"} immediately.`;
    case "lowered":
      return `A new plan version lowered the allowance, so ${what} cannot be spent.`;
    case "waiting":
      return `The customer has left the plan that granted these credits. If the customer returns within the same period, ${what} ${isOne ? "becomes" : "become"} available.`;
    default:
      return null;
  }
}

type ReversalPreview = Answer<"previewReversal">;

/** Preview of a reversal; a null quantity reverses the remaining quantity. */
function reversalPreviewQuery(customerScope: CustomerScope, entry: Entry, quantity: number | null) {
  const path = { ...customerScopeOf(customerScope), consumeId: entry.consumeId ?? "" };
  return queryOptions({
    ...queryOf(
      "post",
      "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse/preview",
      { params: { path }, body: { ...itemOf(entry), quantity } },
    ),
    // Read once per opened dialog. The API detects later changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { showsOwnErrors: true },
  });
}
