import { CancelledError, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type UseFormRegister, useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { queryClient } from "../../api/query-client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { countOf, formatCount, formatPrice } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { ProblemCallout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";
import { AmountFields, ExpiryFields } from "./amount-fields.tsx";
import {
  type CreditsBody,
  type CreditsErrors,
  type CreditsForm,
  type Expiry,
  newOwnReference,
  readCreditsForm,
  readExpiry,
} from "./credits-form.ts";
import { CreditsOutcome, creditsPreviewQuery, TwinWarning, twinsOf } from "./credits-preview.tsx";
import { MoveGrantDialog } from "./move-grant.tsx";
import { undoCredits } from "./revoke-grant.tsx";

/** Each time the dialog opens, it prepares a new idempotent top-up. */
export function AddCreditsDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const { customerId, name } = customer;
  const scope = useScope();
  const customerScope = { ...scope, customerId };
  const clock = useClock();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const [ownReference] = useState(newOwnReference);
  const [openedAt] = useState(Date.now);
  const [moving, setMoving] = useState<{ customerId: string; grant: number } | null>(null);
  const [accepted, setAccepted] = useState<string | null>(null);
  const twinBox = useRef<HTMLInputElement>(null);
  const { register, control, handleSubmit, formState, setFocus, setValue } = useForm<CreditsForm>({
    defaultValues: {
      credits: "",
      kind: "manual",
      pool: pools.find(({ key }) => key === "credits")?.key ?? pools[0]?.key ?? "credits",
      expiry: "never",
      expires: "",
      reference: "",
      price: "",
      currency: "EUR",
      note: "",
    },
  });
  const form = useWatch({ control, compute: (values: CreditsForm) => values });
  const { body, errors } = readCreditsForm(form, { clock, ownReference, openedAt });
  const preview = useQuery(creditsPreviewQuery(customerScope, body));
  const add = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/credits",
    {
      onSuccess: async ({ outcome, grant, balanceBefore, balanceAfter }) => {
        if (outcome === "added") {
          const change = `Balance ${formatCount(balanceBefore)} → ${formatCount(balanceAfter)}`;
          const undo = { name: "Undo", run: () => void undoCredits(customerScope, grant) };
          notify(
            `Added ${countOf(balanceAfter - balanceBefore, "credit")} to ${name ?? customerId}`,
            change,
            // An undo does not free the reference, so the payment could not be added again.
            ...(form.reference.trim() === "" ? [undo] : []),
          );
        } else {
          notify("Nothing added", `These credits were already added. Balance ${formatCount(balanceAfter)}`);
        }
        onClose();
        await refresh("customers");
      },
    },
  );
  const shown = body === null ? undefined : preview.data;
  const twins = shown === undefined || preview.isPlaceholderData ? null : twinsOf(shown);
  const amount = countOf(body?.credits ?? 0, "credit");
  async function submit(): Promise<void> {
    if (errors !== null) return setFocus(firstOf(errors));
    // Check for duplicates again, because another member may have added the same credits. Errors are shown below.
    add.reset();
    const now = await queryClient
      .fetchQuery(creditsPreviewQuery(customerScope, body))
      .catch((error: unknown) => {
        if (error instanceof CancelledError) notify("Nothing added", "The form changed during the check.");
        return null;
      });
    if (now === null) return;
    const found = twinsOf(now);
    if (found !== null && found !== accepted) return twinBox.current?.focus();
    await add.mutateAsync({ params: { path: customerScope }, body }).catch(() => {});
  }
  if (moving !== null)
    return (
      <MoveGrantDialog
        customerScope={{ ...scope, customerId: moving.customerId }}
        grant={moving.grant}
        to={customer}
        onClose={onClose}
      />
    );
  return (
    <WriteDialog
      title={`Add credits to ${name ?? customerId}`}
      write={add}
      request={body === null ? null : { params: { path: customerScope }, body }}
      action={body === null ? "Add credits" : `Add ${amount}`}
      isBusy={formState.isSubmitting || add.isPending}
      isDisabled={(twins !== null && accepted !== twins) || shown?.outcome === "refused"}
      problem={
        <>
          <ProblemCallout error={add.error} />
          {isOutcomeUnknown(add.error) && (
            <p className="text-muted">You can retry safely. The credits will be added only once.</p>
          )}
        </>
      }
      onSubmit={handleSubmit(submit)}
      onClose={onClose}
    >
      <CreditsFields
        register={register}
        pools={pools}
        isPurchase={form.kind === "purchase"}
        price={body?.price}
        expiry={form.expiry}
        expiresAt={readExpiry(form, { clock, openedAt })}
        onExpiry={(expiry) => {
          setValue("expiry", expiry);
          if (expiry === "date") setTimeout(() => setFocus("expires"));
        }}
        errors={formState.isSubmitted || form.credits !== "" ? (errors ?? {}) : {}}
      />
      {preview.error === null || body === null ? (
        <CreditsOutcome
          preview={shown}
          customerId={customerId}
          isAsked={body !== null}
          isOld={preview.isPlaceholderData}
          onMove={setMoving}
        />
      ) : (
        <ProblemCallout error={preview.error} />
      )}
      {shown !== undefined && twins !== null && (
        <TwinWarning
          twins={shown.twins}
          amount={amount}
          isAccepted={accepted === twins}
          onAccept={(isAccepted) => setAccepted(isAccepted ? twins : null)}
          boxRef={twinBox}
        />
      )}
    </WriteDialog>
  );
}

function firstOf(errors: CreditsErrors): keyof CreditsForm {
  return errors.credits !== undefined ? "credits" : errors.expires !== undefined ? "expires" : "price";
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.code === "outcome_unknown");
}

const KINDS = ["manual", "purchase", "promotion"] as const;

function CreditsFields({
  register,
  pools,
  isPurchase,
  price,
  expiry,
  expiresAt,
  onExpiry,
  errors,
}: {
  register: UseFormRegister<CreditsForm>;
  pools: readonly { key: string; name: string }[];
  isPurchase: boolean;
  /** The parsed price, shown because decimal separators differ by country. */
  price: CreditsBody["price"];
  expiry: Expiry;
  expiresAt: string | null;
  onExpiry: (expiry: Expiry) => void;
  errors: CreditsErrors;
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <AmountFields label="Credits" kinds={KINDS} pools={pools} error={errors.credits} register={register} />
      <ExpiryFields
        expiry={expiry}
        expiresAt={expiresAt}
        onExpiry={onExpiry}
        error={errors.expires}
        register={register}
      />
      <TextField
        label="Reference"
        placeholder={isPurchase ? "Payment ID" : ""}
        hint="Optional. Credits are added only once per reference."
        maxLength={255}
        isMono
        {...register("reference")}
      />
      {isPurchase && (
        <div className="grid grid-cols-[1fr_5rem] gap-2">
          <TextField
            label="Price paid"
            inputMode="decimal"
            placeholder="49.00"
            hint={price && formatPrice(price)}
            error={errors.price}
            {...register("price")}
          />
          <TextField label="Currency" maxLength={3} {...register("currency")} />
        </div>
      )}
      <div className={isPurchase ? "sm:col-span-2" : ""}>
        <TextField label="Note" hint="Optional." maxLength={1_000} {...register("note")} />
      </div>
    </div>
  );
}
