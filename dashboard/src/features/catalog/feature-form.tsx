import { useSuspenseQuery } from "@tanstack/react-query";
import { type UseFormReturn, useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { PER_MAX, PRICE_MAX, wholeNumber } from "../../format/term-fields.ts";
import {
  type Cost,
  chargeOf,
  formatCost,
  joinList,
  keyOfName,
  nameOfKey,
  pluralOf,
} from "../../format/terms.ts";
import { useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { notify } from "../../ui/toast.tsx";
import { type FeatureValues, newFeature, toBody } from "./feature-values.ts";
import { KEY_RULES, KeyField, NAME_RULES, NameField } from "./key-fields.tsx";
import { poolsQuery, refreshCatalog } from "./queries.ts";

export function CreateFeatureDialog({
  prefilledKey,
  onClose,
}: {
  prefilledKey: string;
  onClose: () => void;
}) {
  const scope = useScope();
  const form = useForm<FeatureValues>({ defaultValues: newFeature(prefilledKey, nameOfKey(prefilledKey)) });
  const values = { ...newFeature("", ""), ...useWatch({ control: form.control }) };
  const requestOf = (wanted: FeatureValues) => ({
    params: { path: { ...scope, key: wanted.key }, header: { "if-none-match": "*" } },
    body: toBody(wanted),
  });
  const create = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/features/{key}", {
    onSuccess: async ({ name, cost, unit }) => {
      await refreshCatalog();
      notify(`Created ${name}`, `Cost: ${formatCost(cost, unit)}. Add it to a plan next.`);
      onClose();
    },
  });
  const isTaken = create.error instanceof ApiProblem && create.error.status === 412;
  return (
    <WriteDialog
      title="Create feature"
      note="Something customers can do, such as export an image."
      write={create}
      request={requestOf({ ...values, key: values.key || "image.render" })}
      action="Create feature"
      noValidate
      problem={
        isTaken ? (
          <Callout tone="bad" title="This key is already in use">
            <TextLink
              to="/projects/$projectId/$environment/features"
              params={scope}
              search={{ key: create.variables?.params.path.key ?? "" }}
            >
              Open that feature
            </TextLink>
            , or choose another key.
          </Callout>
        ) : (
          <ProblemCallout error={create.error} />
        )
      }
      onSubmit={form.handleSubmit((wanted) => create.mutate(requestOf(wanted)))}
      onClose={onClose}
    >
      <FeatureFields form={form} isNew />
    </WriteDialog>
  );
}

export function FeatureFields({ form, isNew }: { form: UseFormReturn<FeatureValues>; isNew: boolean }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const {
    register,
    setValue,
    control,
    formState: { errors, dirtyFields, defaultValues },
  } = form;
  // Typing a name must not replace a key from a link.
  const hasOwnKey = defaultValues?.key !== "";
  const [credits, per, unit] = useWatch({ control, name: ["credits", "per", "unit"] });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <NameField
          error={errors.name?.message}
          {...register("name", {
            ...NAME_RULES,
            onChange: ({ target }) => {
              if (isNew && !hasOwnKey && dirtyFields.key !== true) setValue("key", keyOfName(target.value));
            },
          })}
        />
        <TextField
          label="Unit"
          hint="Optional. Use the singular form."
          error={errors.unit?.message}
          placeholder="image"
          maxLength={60}
          autoComplete="off"
          {...register("unit")}
        />
      </div>
      {isNew && (
        <KeyField
          error={errors.key?.message}
          {...register("key", {
            ...KEY_RULES,
            onChange: ({ target }) => {
              if (dirtyFields.name !== true) setValue("name", nameOfKey(target.value));
            },
          })}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Credits"
          hint="0 means free."
          error={errors.credits?.message}
          type="number"
          step={1}
          {...register("credits", { valueAsNumber: true, validate: wholeNumber(0, PRICE_MAX) })}
        />
        <TextField
          label="Number of units"
          hint="Enter 1000 to set a cost per 1,000 units."
          error={errors.per?.message}
          type="number"
          step={1}
          {...register("per", { valueAsNumber: true, validate: wholeNumber(1, PER_MAX) })}
        />
      </div>
      {pools.length > 1 && (
        <Select
          label="Pool"
          hint="The feature spends credits from this pool."
          options={pools.map(({ key, name }) => ({ value: key, label: name }))}
          {...register("pool")}
        />
      )}
      <output className="text-body text-muted">{examplesOf({ credits, per }, unit.trim())}</output>
    </>
  );
}

/** Example charges that show rounding. */
function examplesOf(cost: Cost, unit: string): string {
  const { credits, per } = cost;
  if (!Number.isInteger(credits) || !Number.isInteger(per) || credits < 0 || per < 1) return "";
  if (credits === 0) return "Free. Plans can still limit its use.";
  const units = unit === "" ? "units" : pluralOf(unit);
  const quantities = per === 1 ? [1, 25] : [1, per, Math.ceil(per * 2.5)];
  const examples = quantities.map((quantity) => {
    const charge = countOf(chargeOf(cost, quantity), "credit");
    return quantity === 1
      ? `1 ${unit === "" ? "unit" : unit} costs ${charge}`
      : `${quantity.toLocaleString("en-US")} ${units} cost ${charge}`;
  });
  return `${joinList(examples)}.${per === 1 ? "" : " Charges are rounded up."}`;
}
