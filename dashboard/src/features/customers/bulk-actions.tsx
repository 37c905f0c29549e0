import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Scope } from "../../api/answer.ts";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { callOf } from "../../api/use-write.ts";
import { toHex } from "../../format/hex.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { nameOfClock } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import { AmountFields } from "../credits/amount-fields.tsx";
import { type CreditsBody, type CreditsForm, OWN, readCreditsForm } from "../credits/credits-form.ts";
import { BulkDialog, type BulkDialogProps } from "./bulk-dialog.tsx";
import { type Effect, eachCustomer } from "./bulk-run.ts";
import type { Customer } from "./queries.ts";

const CUSTOMER_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}";

/** Blocks or unblocks the selected customers. */
export function BulkBlockDialog({
  customers,
  isBlocked,
  ...dialog
}: BulkDialogProps & { isBlocked: boolean }) {
  const scope = useScope();
  const verb = isBlocked ? "Block" : "Unblock";
  const names = [stateOf(!isBlocked), stateOf(isBlocked)] as const;
  const effects = customers.map(
    (customer): Effect =>
      customer.isBlocked === isBlocked
        ? { customer, before: names[1], after: null }
        : { customer, before: names[0], after: names[1] },
  );
  const requestOf = (customerId: string, blocked: boolean) => ({
    params: { path: { ...scope, customerId } },
    body: { blocked },
  });
  const block = (customerId: string, blocked: boolean) =>
    answerOf(api.PUT(`${CUSTOMER_PATH}/block`, requestOf(customerId, blocked)));
  const [first] = customers;
  return (
    <BulkDialog
      title={`${verb} customers`}
      action={verb}
      past={`${verb}ed`}
      same={`already ${isBlocked ? "blocked" : "not blocked"}`}
      tone={isBlocked ? "danger" : "primary"}
      change={eachCustomer(async ({ customerId }) => {
        const { outcome } = await block(customerId, isBlocked);
        return outcome === "changed" ? () => block(customerId, !isBlocked) : null;
      })}
      effects={effects}
      call={
        first === undefined
          ? null
          : callOf("put", `${CUSTOMER_PATH}/block`, requestOf(first.customerId, isBlocked))
      }
      {...dialog}
    >
      <p>
        {isBlocked
          ? "Every request of these customers will be denied (customer_blocked). Plans and credits are kept."
          : "Plans and balances apply again from the next request."}
      </p>
    </BulkDialog>
  );
}

function stateOf(isBlocked: boolean): string {
  return isBlocked ? "Blocked" : "Not blocked";
}

const KINDS = ["manual", "promotion"] as const;

/** Adds the same credits to each selected customer. */
export function BulkCreditsDialog({ customers, ...dialog }: BulkDialogProps) {
  const scope = useScope();
  const clock = useClock();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const { register, control } = useForm<CreditsForm>({
    defaultValues: {
      credits: "",
      kind: "manual",
      pool: pools.find(({ key }) => key === "credits")?.key ?? pools[0]?.key ?? "credits",
      expiry: "date",
      expires: "",
      reference: "",
      price: "",
      currency: "EUR",
      note: "",
    },
  });
  const form = useWatch({ control, compute: (values: CreditsForm) => values });
  // Without a reference, the customer, the credits and the day name the change. Not the other customers: after an interruption, the
  // selection may be another one. The day does not change until the dialog closes, so that a retry after midnight adds nothing twice.
  const [day] = useState(() => new Date().toISOString().slice(0, 10));
  // They expire on a date or never: 30 days from now would be another change each time the dialog opens, and be added twice.
  const expiry = form.expires === "" ? "never" : "date";
  const { body, errors } = readCreditsForm({ ...form, expiry }, { clock, ownReference: "", openedAt: 0 });
  const shown = form.credits === "" ? {} : (errors ?? {});
  const [first] = customers;
  return (
    <BulkDialog
      title="Add credits"
      action={body === null ? "Add credits to" : `Add ${countOf(body.credits, "credit")} to`}
      past={`Added ${countOf(body?.credits ?? 0, "credit")} to`}
      same="already got these credits. Enter another reference to add them again, also after an undo"
      kept="Credits that were already spent are not taken back."
      change={eachCustomer(async ({ customerId }) =>
        body === null ? null : addCredits(scope, customerId, await withReference(body, customerId, day)),
      )}
      effects={body === null ? null : customers.map((customer) => creditsEffect(customer, body))}
      call={
        body === null || first === undefined
          ? null
          : callOf("post", `${CUSTOMER_PATH}/credits`, {
              params: { path: { ...scope, customerId: first.customerId } },
              body: { ...body, reference: `${body.reference || "bulk"}:${first.customerId}` },
            })
      }
      {...dialog}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountFields
          label="Credits for each"
          kinds={KINDS}
          pools={pools}
          error={shown.credits}
          register={register}
        />
        <TextField
          label="Expires"
          type="datetime-local"
          hint={`Optional, in ${nameOfClock(clock)}.`}
          error={shown.expires}
          {...register("expires")}
        />
        <TextField
          label="Reference"
          hint="Optional. Each customer gets its credits only once. Without it: once a day for the same credits."
          maxLength={200}
          isMono
          {...register("reference")}
        />
        <TextField label="Note" hint="Optional." maxLength={1_000} {...register("note")} />
      </div>
    </BulkDialog>
  );
}

function creditsEffect(customer: Customer, { credits, pool }: CreditsBody): Effect {
  const balance = customer.balances.find((known) => known.pool === pool)?.balance ?? 0;
  return { customer, before: formatCount(balance), after: formatCount(balance + credits) };
}

/** Null if an earlier, interrupted run has added them. */
async function addCredits(
  scope: Scope,
  customerId: string,
  body: CreditsBody,
): Promise<(() => Promise<unknown>) | null> {
  const path = { ...scope, customerId };
  const { outcome, grant } = await answerOf(api.POST(`${CUSTOMER_PATH}/credits`, { params: { path }, body }));
  if (outcome === "already_added") return null;
  return () =>
    answerOf(
      api.POST(`${CUSTOMER_PATH}/grants/{grant}/revoke`, {
        params: { path: { ...path, grant: String(grant) } },
      }),
    );
}

/** A reference for one customer. It is the same if the change is repeated after an interruption, even in another tab. */
async function withReference(body: CreditsBody, customerId: string, day: string): Promise<CreditsBody> {
  if (body.reference) return { ...body, reference: `${body.reference}:${await digestOf(customerId)}` };
  const { reference: _, ...terms } = body;
  return { ...body, reference: `${OWN}bulk-${day}-${await digestOf(JSON.stringify([terms, customerId]))}` };
}

async function digestOf(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toHex(new Uint8Array(hash).subarray(0, 10));
}
