import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormProvider, useFieldArray, useForm, useWatch } from "react-hook-form";
import { type Feature, featuresQuery, type Pool, poolsQuery } from "../../api/catalog-lists.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { capitalize } from "../../format/terms.ts";
import { momentText, nameOfClock, readMoment } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { isPast } from "../assignments/plan-fields.tsx";
import type { Customer, PlanVersion } from "../customers/queries.ts";
import { usePlanTerms } from "../customers/use-plan-terms.ts";
import { AllowanceOverride, FeatureOverride } from "./override-fields.tsx";
import {
  newAllowance,
  newFeature,
  OVERRIDES_PATH,
  type OverrideValues,
  toBody,
  toValues,
} from "./override-values.ts";

/** Edits all overrides for a customer. Saving replaces all overrides. */
export function OverridesDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const { customerId, overrides } = customer;
  const who = customer.name ?? customerId;
  const scope = useScope();
  const clock = useClock();
  const terms = usePlanTerms(customer);
  const { data: features = [] } = useQuery(featuresQuery(scope));
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  const end = overrides?.endsAt ?? null;
  const methods = useForm<OverrideValues>({
    defaultValues: toValues(overrides, terms, end === null ? "" : momentText(Date.parse(end), clock)),
  });
  const { register, control, handleSubmit } = methods;
  const rows = {
    features: useFieldArray({ control, name: "features" }),
    allowances: useFieldArray({ control, name: "allowances" }),
  };
  const values = useWatch({ control, compute: (all: OverrideValues) => all });
  const endsAt = values.ending === "at" ? readMoment(values.endsAt, clock) : null;
  const body = toBody(values, endsAt);
  const isIncomplete = body === null || (values.ending === "at" && (endsAt === null || isPast(endsAt)));
  const save = useWrite("put", OVERRIDES_PATH, {
    onSuccess: async ({ outcome }) => {
      notify(outcome === "changed" ? `Saved overrides for ${who}` : "Nothing changed");
      onClose();
      await refresh("customers");
    },
  });
  const requestOf = (wanted: NonNullable<typeof body>) => ({
    params: { path: { ...scope, customerId } },
    body: wanted,
  });
  const isEmpty = values.features.length + values.allowances.length === 0;
  return (
    <WriteDialog
      title={`Overrides for ${who}`}
      note="These terms replace the plan's. Overrides are kept when the customer changes plans."
      isWide
      write={save}
      request={body === null ? null : requestOf(body)}
      action="Save overrides"
      isDisabled={isIncomplete || (isEmpty && overrides === null)}
      noValidate
      onSubmit={handleSubmit(async () => {
        if (body !== null) await save.mutateAsync(requestOf(body)).catch(() => {});
      })}
      onClose={onClose}
    >
      <FormProvider {...methods}>
        {rows.allowances.fields.map(({ id, pool }, index) => (
          <AllowanceOverride
            key={id}
            index={index}
            name={pools.find(({ key }) => key === pool)?.name ?? pool}
            planned={terms?.allowances.find((each) => each.pool === pool) ?? null}
            onRemove={() => rows.allowances.remove(index)}
          />
        ))}
        {rows.features.fields.map(({ id, feature: key }, index) => (
          <FeatureOverride
            key={id}
            index={index}
            feature={features.find((each) => each.key === key) ?? { key, name: key, unit: null }}
            planned={terms?.features.find((each) => each.feature === key) ?? null}
            onRemove={() => rows.features.remove(index)}
          />
        ))}
        <AddOverride
          options={offered({ features, pools, terms, values })}
          onAdd={(kind, key) =>
            kind === "feature"
              ? rows.features.append(newFeature(key, terms))
              : rows.allowances.append(newAllowance(key, terms))
          }
        />
        {!isEmpty && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Select
              label="Overrides end"
              options={[
                { value: "never", label: "Never" },
                { value: "at", label: "On a specific date" },
              ]}
              {...register("ending")}
            />
            {values.ending === "at" && (
              <TextField
                label="End date"
                type="datetime-local"
                hint={`${capitalize(nameOfClock(clock))}. After this date, the plan's terms apply again.`}
                error={isPast(endsAt) ? "Choose a time in the future." : undefined}
                {...register("endsAt")}
              />
            )}
          </div>
        )}
        <p className="text-muted">
          Changes to allowance credits apply from the next period. All other changes apply from the next
          request.
        </p>
      </FormProvider>
    </WriteDialog>
  );
}

type Option = { readonly value: string; readonly label: string };

/** Features and pools without an override. The plan must have the allowance that an override replaces. */
function offered({
  features,
  pools,
  terms,
  values,
}: {
  features: readonly Feature[];
  pools: readonly Pool[];
  terms: PlanVersion | null;
  values: OverrideValues;
}): Option[] {
  return [
    ...pools
      .filter(({ key }) => terms?.allowances.some(({ pool }) => pool === key))
      .filter(({ key }) => !values.allowances.some(({ pool }) => pool === key))
      .map(({ key, name }) => ({ value: `allowance ${key}`, label: `Allowance: ${name}` })),
    ...features
      .filter(
        ({ key, archivedAt }) =>
          archivedAt === null || terms?.features.some(({ feature }) => feature === key),
      )
      .filter(({ key }) => !values.features.some(({ feature }) => feature === key))
      .map(({ key, name }) => ({ value: `feature ${key}`, label: `Feature: ${name}` })),
  ];
}

function AddOverride({
  options,
  onAdd,
}: {
  options: readonly Option[];
  onAdd: (kind: "feature" | "allowance", key: string) => void;
}) {
  const [chosen, setChosen] = useState("");
  if (options.length === 0) return null;
  const value = options.some((option) => option.value === chosen) ? chosen : "";
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1 sm:max-w-80">
        <Select
          label="Add override"
          options={[{ value: "", label: "Choose a feature or allowance" }, ...options]}
          value={value}
          onChange={({ target }) => setChosen(target.value)}
        />
      </div>
      <Button
        isDisabled={value === ""}
        onClick={() => {
          const [kind = "", ...key] = value.split(" ");
          onAdd(kind === "allowance" ? "allowance" : "feature", key.join(" "));
          setChosen("");
        }}
      >
        Add
      </Button>
    </div>
  );
}
