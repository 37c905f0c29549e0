import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { answerOf, api, queryOf } from "../../api/client.ts";
import { callOf } from "../../api/use-write.ts";
import { toHex } from "../../format/hex.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import { AmountFields, ExpiryFields } from "../credits/amount-fields.tsx";
import {
  type CreditsBody,
  type CreditsForm,
  type Expiry,
  OWN,
  readCreditsForm,
  readExpiry,
} from "../credits/credits-form.ts";
import type { Effect } from "./bulk-change.ts";
import { BulkDialog, type BulkDialogProps } from "./bulk-dialog.tsx";
import type { Customer } from "./queries.ts";

const BLOCKS_PATH = "/manage/v1/projects/{projectId}/{environment}/bulk-blocks";
const CREDITS_PATH = "/manage/v1/projects/{projectId}/{environment}/bulk-credits";

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
  const requestOf = (customerIds: readonly string[]) => ({
    params: { path: scope },
    body: { customerIds: [...customerIds], blocked: isBlocked },
  });
  return (
    <BulkDialog
      title={`${verb} customers`}
      action={verb}
      past={`${verb}ed`}
      same={`had already been ${isBlocked ? "blocked" : "unblocked"}`}
      tone={isBlocked ? "danger" : "primary"}
      change={(ids, signal) => answerOf(api.POST(BLOCKS_PATH, { ...requestOf(ids), signal }))}
      effects={effects}
      call={callOf("post", BLOCKS_PATH, requestOf(changingOf(effects)))}
      {...dialog}
    >
      <p>
        {isBlocked
          ? "All checks, charges and new holds for these customers will be denied (customer_blocked). Plans and credits are kept."
          : "Plans and balances will apply again from the next request."}
      </p>
    </BulkDialog>
  );
}

function stateOf(isBlocked: boolean): string {
  return isBlocked ? "Blocked" : "Not blocked";
}

const KINDS = ["manual", "promotion"] as const;
const ADD_AGAIN = "To add them again, even after an undo, enter a different reference";

/** Adds the same credits to each selected customer. */
export function BulkCreditsDialog({ customers, ...dialog }: BulkDialogProps) {
  const scope = useScope();
  const clock = useClock();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const { register, control, setValue } = useForm<CreditsForm>({
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
  const [openedAt] = useState(Date.now);
  const { body, errors } = readCreditsForm(form, { clock, ownReference: "", openedAt, endsWithDay: true });
  const shown = form.credits === "" ? {} : (errors ?? {});
  const { data: reference = "" } = useQuery({
    queryKey: ["bulk reference", openedAt, form, body],
    queryFn: () => (body === null ? "" : nameChange(body, form.expiry, openedAt)),
    enabled: body !== null,
    gcTime: 0,
  });
  const received = useReceived(customers, reference);
  const effects =
    body === null
      ? null
      : customers.map((customer) => creditsEffect(customer, body, received.has(customer.customerId)));
  const requestOf = (terms: CreditsBody, customerIds: readonly string[], named: string) => ({
    params: { path: scope },
    body: { customerIds: [...customerIds], ...terms, reference: named },
  });
  return (
    <BulkDialog
      title="Add credits"
      action={body === null ? "Add credits to" : `Add ${countOf(body.credits, "credit")} to`}
      past={`Added ${countOf(body?.credits ?? 0, "credit")} to`}
      same={`had already received these credits. ${ADD_AGAIN}`}
      change={async (ids, signal) => {
        if (body === null) throw new Error("the form is incomplete");
        const named = await nameChange(body, form.expiry, openedAt);
        return answerOf(api.POST(CREDITS_PATH, { ...requestOf(body, ids, named), signal }));
      }}
      effects={effects}
      call={
        body === null || effects === null
          ? null
          : callOf("post", CREDITS_PATH, requestOf(body, changingOf(effects), reference))
      }
      {...dialog}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <AmountFields
          label="Credits per customer"
          kinds={KINDS}
          pools={pools}
          error={shown.credits}
          register={register}
        />
        <ExpiryFields
          expiry={form.expiry}
          expiresAt={readExpiry(form, { clock, openedAt, endsWithDay: true })}
          onExpiry={(expiry) => setValue("expiry", expiry)}
          error={shown.expires}
          register={register}
        />
        <TextField
          label="Reference"
          hint="Optional. Each customer gets the credits once per reference. Without a reference, the same credits can be added once a day."
          maxLength={200}
          isMono
          {...register("reference")}
        />
        <TextField label="Note" hint="Optional." maxLength={1_000} {...register("note")} />
      </div>
      {received.size > 0 && (
        <Callout tone="warn" title={`${countOf(received.size, "customer")} already received these credits`}>
          {ADD_AGAIN}.
        </Callout>
      )}
    </BulkDialog>
  );
}

/**
 * IDs of the customers who already received credits with this reference. The request leaves these customers out. The set is empty until the
 * response arrives, and never contains customers of an earlier reference.
 */
function useReceived(customers: readonly Customer[], reference: string): ReadonlySet<string> {
  const path = useScope();
  const customerIds = customers.map(({ customerId }) => customerId);
  const { data } = useQuery({
    ...queryOf("post", `${CREDITS_PATH}/preview`, {
      params: { path },
      body: { customerIds, reference },
    }),
    enabled: reference !== "",
    staleTime: 0,
    gcTime: 0,
    meta: { showsOwnErrors: true },
  });
  return new Set(data?.received);
}

function creditsEffect(customer: Customer, { credits, pool }: CreditsBody, isReceived: boolean): Effect {
  const balance = customer.balances.find((known) => known.pool === pool)?.balance ?? 0;
  return {
    customer,
    before: formatCount(balance),
    after: isReceived ? null : formatCount(balance + credits),
  };
}

function changingOf(effects: readonly Effect[]): string[] {
  return effects.flatMap(({ customer, after }) => (after === null ? [] : [customer.customerId]));
}

/**
 * The entered reference, or a reference derived from the terms and the day the dialog was opened. Repeating an interrupted change on that
 * day adds nothing twice, even in another tab. An expiry preset is included by name, because its time depends on when the dialog was
 * opened.
 */
async function nameChange(
  { reference, ...terms }: CreditsBody,
  expiry: Expiry,
  openedAt: number,
): Promise<string> {
  if (reference) return reference;
  const { expiresAt = null, ...rest } = terms;
  const day = new Date(openedAt).toISOString().slice(0, 10);
  const intention = JSON.stringify([rest, expiry === "date" ? expiresAt : expiry]);
  return `${OWN}bulk-${day}-${await digestOf(intention)}`;
}

async function digestOf(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toHex(new Uint8Array(hash).subarray(0, 10));
}
