import { useSuspenseQuery } from "@tanstack/react-query";
import { type UseFormReturn, useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { type Cost, chargeOf, costInWords, joinWords, nameOfKey, pluralOf } from "../../format/terms.ts";
import { usePlace } from "../../frame/use-here.ts";
import { TextLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { tell } from "../../ui/toast.tsx";
import { type FeatureValues, newFeature, toBody, wholeNumber } from "./feature-values.ts";
import { KEY_RULES, KeyField, NAME_RULES, NameField } from "./key-fields.tsx";
import { poolsQuery, refreshCatalog } from "./queries.ts";

export function CreateFeatureDialog({
  prefilledKey,
  onClose,
}: {
  prefilledKey: string;
  onClose: () => void;
}) {
  const place = usePlace();
  const form = useForm<FeatureValues>({ defaultValues: newFeature(prefilledKey, nameOfKey(prefilledKey)) });
  const values = { ...newFeature("", ""), ...useWatch({ control: form.control }) };
  const requestOf = (wanted: FeatureValues) => ({
    params: { path: { ...place, key: wanted.key }, header: { "if-none-match": "*" } },
    body: toBody(wanted),
  });
  const create = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/features/{key}", {
    onSuccess: async ({ name, cost, unit }) => {
      await refreshCatalog();
      tell(
        `${name} is defined`,
        `It costs ${costInWords(cost, unit)}. Customers get it by a plan that includes it.`,
      );
      onClose();
    },
  });
  const isTaken = create.error instanceof ApiProblem && create.error.status === 412;
  return (
    <WriteDialog
      title="New feature"
      note="Something that a customer may do."
      write={create}
      request={requestOf({ ...values, key: values.key || "image.render" })}
      action="Define feature"
      noValidate
      problem={
        isTaken ? (
          <Callout tone="bad" title="There is a feature with this key already">
            <TextLink
              to="/projects/$projectId/$environment/features"
              params={place}
              search={{ key: create.variables?.params.path.key ?? "" }}
            >
              Look at it
            </TextLink>
            , or choose another key. Nothing was changed.
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
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  const {
    register,
    setValue,
    control,
    formState: { errors, dirtyFields },
  } = form;
  const [credits, per, unit] = useWatch({ control, name: ["credits", "per", "unit"] });
  return (
    <>
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
        <NameField error={errors.name?.message} {...register("name", NAME_RULES)} />
        <TextField
          label="Unit"
          hint="What is counted, in the singular. May stay empty."
          error={errors.unit?.message}
          placeholder="image"
          maxLength={60}
          autoComplete="off"
          {...register("unit")}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Credits"
          hint="0: it costs nothing."
          error={errors.credits?.message}
          type="number"
          step={1}
          {...register("credits", { valueAsNumber: true, validate: wholeNumber(0, 1_000_000_000) })}
        />
        <TextField
          label="For how many units"
          hint="1000: so many credits for a thousand."
          error={errors.per?.message}
          type="number"
          step={1}
          {...register("per", { valueAsNumber: true, validate: wholeNumber(1, 1_000_000) })}
        />
      </div>
      {pools.length > 1 && (
        <Select
          label="Pool"
          hint="The credits that it draws from."
          options={pools.map(({ key, name }) => ({ value: key, label: name }))}
          {...register("pool")}
        />
      )}
      <output className="text-body text-muted">{examplesOf({ credits, per }, unit.trim())}</output>
    </>
  );
}

/** So that nobody has to guess what is multiplied and what is rounded. */
function examplesOf(cost: Cost, unit: string): string {
  const { credits, per } = cost;
  if (!Number.isInteger(credits) || !Number.isInteger(per) || credits < 0 || per < 1) return "";
  if (credits === 0) return "It costs no credits. Each plan may still limit how often it is used.";
  const things = unit === "" ? "of them" : pluralOf(unit);
  const quantities = per === 1 ? [1, 25] : [1, per, Math.ceil(per * 2.5)];
  const examples = quantities.map((quantity) => {
    const charge = countOf(chargeOf(cost, quantity), "credit");
    return quantity === 1
      ? `1 ${unit === "" ? "of them" : unit} costs ${charge}`
      : `${quantity.toLocaleString("en-US")} ${things} cost ${charge}`;
  });
  return `${joinWords(examples)}.${per === 1 ? "" : " A charge is rounded up to whole credits."}`;
}
