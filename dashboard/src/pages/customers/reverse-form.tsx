import { useMutation, useQueryClient, useSuspenseQueries } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { answerOf, api } from "../../api/client.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { countOf, formatCount, formatStep } from "../../words/numbers.ts";
import type { Whose } from "./audit-actors.ts";
import { BalanceChange } from "./balance-change.tsx";
import { planVersionQuery } from "./catalog-queries.ts";
import { leftOf } from "./ledger-context.ts";
import type { Entry, Grant } from "./ledger-queries.ts";
import { customerKey, customerQuery } from "./queries.ts";
import { previewReversal } from "./reversal-preview.ts";
import { ReversalReturns } from "./reversal-returns.tsx";

type Fields = { quantity: string; note: string };

export function ReverseForm(props: {
  whose: Whose;
  entry: Entry;
  grants: readonly Grant[];
  onDone: () => void;
}) {
  const { whose, onDone } = props;
  // As it was read for this: what happens to it meanwhile is said here, and does not slip under the pointer.
  const [{ entry, grants }] = useState(props);
  const left = leftOf(entry);
  const { register, handleSubmit, control, formState } = useForm<Fields>({
    defaultValues: { quantity: String(left), note: "" },
    mode: "onChange",
  });
  const typed = useWatch({ control });
  const quantity = readQuantity(typed.quantity ?? "", left);
  const { preview, before } = usePreview(whose, entry, grants, quantity ?? left);
  const { body, mutation } = useReversal(whose, entry, before, onDone);
  const { customerId, environment } = whose;
  const submit = handleSubmit((fields) => {
    if (quantity !== null && !mutation.isPending) mutation.mutate(body(quantity, fields.note));
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
      {left === 0 ? (
        <Callout>All of this charge was reversed already.</Callout>
      ) : (
        <ReversalReturns preview={preview} />
      )}
      {preview !== null && <BalanceChange pool={entry.pool} before={before} gain={preview.gain} />}
      <TextField
        label="Reason"
        hint="Stands in the ledger beside the reversal. You may leave it empty."
        maxLength={1_000}
        autoComplete="off"
        autoFocus
        {...register("note")}
      />
      <ProblemCallout error={mutation.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="primary" isBusy={mutation.isPending} isDisabled={quantity === null}>
          {inEnvironment(describeAction(preview?.credits ?? 0, quantity ?? left), environment)}
        </Button>
      </DialogActions>
      <ApiCall
        call={{
          method: "POST",
          path: `/manage/v1/projects/${whose.projectId}/${environment}/customers/${encodeURIComponent(customerId)}/consumes/${entry.consumeId}/reverse`,
          body: body(quantity ?? left, typed.note ?? ""),
        }}
      />
    </form>
  );
}

function readQuantity(text: string, max: number): number | null {
  const quantity = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0;
  return quantity >= 1 && quantity <= max ? quantity : null;
}

function describeAction(credits: number, quantity: number): string {
  return credits === 0 ? `Reverse ${formatCount(quantity)}` : `Reverse ${countOf(credits, "credit")}`;
}

function usePreview(whose: Whose, entry: Entry, grants: readonly Grant[], quantity: number) {
  const { key, version } = entry.plan ?? { key: "", version: 0 };
  const [{ data: customer }, { data: plan }] = useSuspenseQueries({
    queries: [customerQuery(whose, whose.customerId), planVersionQuery(whose, { key, version })],
  });
  const cost = plan?.features.find(({ feature }) => feature === entry.feature)?.cost;
  const planKey = customer.plan?.key ?? null;
  const now = Date.now();
  return {
    before: customer.balances.find(({ pool }) => pool === entry.pool)?.balance ?? 0,
    preview: cost === undefined ? null : previewReversal({ entry, quantity, cost, grants, planKey, now }),
  };
}

function useReversal(whose: Whose, entry: Entry, before: number, onDone: () => void) {
  const queryClient = useQueryClient();
  // Names this very reversal: whatever is sent twice, by a double click or after a lost answer, happens once.
  const [reference] = useState(() => `dashboard-${newNonce()}`);
  const body = (quantity: number, note: string) => ({
    quantity,
    reference,
    ...(note.trim() === "" ? {} : { note: note.trim() }),
  });
  const mutation = useMutation({
    mutationFn: (wanted: ReturnType<typeof body>) =>
      answerOf(
        api.POST(
          "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse",
          { params: { path: { ...whose, consumeId: entry.consumeId ?? "" } }, body: wanted },
        ),
      ),
    onSuccess: ({ credits, quantity, customer }) => {
      const after = customer.balances.find(({ pool }) => pool === entry.pool)?.balance ?? 0;
      tell(
        `${entry.feature} × ${formatCount(quantity)} reversed`,
        `${countOf(credits, "credit")} went back. Balance ${formatStep(before, after)}`,
      );
      onDone();
    },
    // After a refusal too: somebody else may have been first.
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: customerKey(whose, whose.customerId) }),
        queryClient.invalidateQueries({ queryKey: ["customers"] }),
      ]),
  });
  return { body, mutation };
}

/** Random also where the page came over plain HTTP, which has no `randomUUID`. */
function newNonce(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
