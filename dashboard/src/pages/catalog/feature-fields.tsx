import { useSuspenseQuery } from "@tanstack/react-query";
import { type UseFormReturn, useWatch } from "react-hook-form";
import { usePlace } from "../../frame/use-place.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { countOf } from "../../words/numbers.ts";
import { type Cost, chargeOf, joinWords, nameOfKey, pluralOf } from "../../words/terms.ts";
import { type FeatureValues, KEY_HINT, KEY_PATTERN, wholeNumber } from "./feature-values.ts";
import { poolsQuery } from "./queries.ts";

const REQUIRED = "This is needed.";

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
        <TextField
          label="Key"
          hint={KEY_HINT}
          error={errors.key?.message}
          isMono
          autoComplete="off"
          spellCheck={false}
          maxLength={120}
          {...register("key", {
            required: REQUIRED,
            pattern: KEY_PATTERN,
            onChange: ({ target }) => {
              if (dirtyFields.name !== true) setValue("name", nameOfKey(target.value));
            },
          })}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Name"
          error={errors.name?.message}
          maxLength={120}
          autoComplete="off"
          {...register("name", { validate: (name) => (name.trim() === "" ? REQUIRED : undefined) })}
        />
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
