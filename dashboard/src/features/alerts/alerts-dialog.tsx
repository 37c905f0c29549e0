import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type UseFormReturn, useForm, useWatch } from "react-hook-form";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { nameLowBalances, readLowBalances } from "../../format/low-balances.ts";
import { CREDITS_MAX, wholeNumber } from "../../format/term-fields.ts";
import { useScope } from "../../frame/use-scope.ts";
import { DocsLink } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select, TextArea, TextField } from "../../ui/field.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";
import { ALERTS_PATH, type AlertValues, MONTHLY_MAX, toBody, toValues } from "./alert-values.ts";

type Props = {
  customer: Customer;
  /** The pool to edit first. Without one, the customer's first pool with rules. */
  pool?: string;
  onClose: () => void;
};

/** Edits a customer's custom thresholds and top-up rules, one pool at a time. */
export function AlertsDialog({ customer, pool: given, onClose }: Props) {
  const { customerId, alerts } = customer;
  const who = customer.name ?? customerId;
  const scope = useScope();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const [pool, setPool] = useState(given ?? Object.keys(alerts.pools)[0] ?? pools[0]?.key ?? "credits");
  const form = useForm<AlertValues>({ defaultValues: toValues(alerts.pools[pool]) });
  const values = useWatch({ control: form.control, compute: (all: AlertValues) => all });
  const body = toBody(alerts, pool, values);
  const save = useWrite("put", ALERTS_PATH, {
    onSuccess: async ({ outcome }) => {
      notify(outcome === "changed" ? `Saved alerts for ${who}` : "Nothing changed");
      onClose();
      await refresh("customers");
    },
  });
  const requestOf = (wanted: NonNullable<typeof body>) => ({
    params: { path: { ...scope, customerId } },
    body: wanted,
  });
  const known = pools.find(({ key }) => key === pool);
  const open = alerts.pools[pool]?.topUp?.open ?? null;
  return (
    <WriteDialog
      title={`Alerts and top-ups for ${who}`}
      write={save}
      request={body === null ? null : requestOf(body)}
      action="Save alerts"
      isDisabled={body === null}
      noValidate
      onSubmit={form.handleSubmit(async () => {
        if (body !== null) await save.mutateAsync(requestOf(body)).catch(() => {});
      })}
      onClose={onClose}
    >
      {pools.length > 1 && (
        <Select
          label="Pool"
          options={pools.map(({ key, name }) => ({ value: key, label: name }))}
          value={pool}
          onChange={({ target }) => {
            setPool(target.value);
            form.reset(toValues(alerts.pools[target.value]));
          }}
        />
      )}
      <Thresholds form={form} values={values} ofPool={known?.lowBalances ?? []} />
      <TopUps form={form} values={values} />
      {open !== null && values.requests === "no" && (
        <p className="text-muted">
          The open request will not be repeated. If the customer pays for it anyway, add the credits as a
          purchase.
        </p>
      )}
    </WriteDialog>
  );
}

type FieldsProps = { form: UseFormReturn<AlertValues>; values: AlertValues };

function Thresholds({
  form: { register, formState },
  values,
  ofPool,
}: FieldsProps & { ofPool: readonly number[] }) {
  const ofPoolText = ofPool.length === 0 ? "none" : nameLowBalances(ofPool);
  return (
    <>
      <Select
        label="Low balances"
        hint={values.thresholds === "pool" ? "Webhooks receive balance.low at these thresholds." : undefined}
        options={[
          { value: "pool", label: `Pool thresholds (${ofPoolText})` },
          { value: "own", label: "Custom thresholds" },
        ]}
        {...register("thresholds")}
      />
      {values.thresholds === "own" && (
        <TextArea
          label="Custom thresholds"
          hint="Up to 10 numbers, separated by commas or line breaks. Leave empty for no notices."
          placeholder="1000, 100"
          rows={2}
          spellCheck={false}
          error={formState.errors.lowBalances?.message}
          {...register("lowBalances", {
            validate: (text) => {
              const read = readLowBalances(text);
              return "error" in read ? read.error : undefined;
            },
          })}
        />
      )}
    </>
  );
}

function TopUps({ form: { register, formState }, values }: FieldsProps) {
  const { errors } = formState;
  const number = { type: "number", inputMode: "numeric", min: 1, step: 1 } as const;
  return (
    <>
      <Select
        label="Top-ups"
        options={[
          { value: "no", label: "Not requested" },
          { value: "yes", label: "Request when the balance is low" },
        ]}
        {...register("requests")}
      />
      {values.requests === "yes" && (
        <>
          <div className="grid gap-4 sm:grid-cols-3">
            <TextField
              label="Balance below"
              error={errors.below?.message}
              {...number}
              {...register("below", { valueAsNumber: true, validate: wholeNumber(1, CREDITS_MAX) })}
            />
            <TextField
              label="Credits to request"
              error={errors.credits?.message}
              {...number}
              {...register("credits", { valueAsNumber: true, validate: wholeNumber(1, CREDITS_MAX) })}
            />
            <TextField
              label="Maximum top-ups per month"
              error={errors.monthlyMax?.message}
              {...number}
              {...register("monthlyMax", { valueAsNumber: true, validate: wholeNumber(1, MONTHLY_MAX) })}
            />
          </div>
          <p className="text-muted">
            Purser does not charge cards. When your webhook receives topup.due, charge the customer. Then add
            the credits as a purchase.{" "}
            <DocsLink href="/docs/guides/webhooks#automatic-top-ups">Guide</DocsLink>
          </p>
        </>
      )}
    </>
  );
}
