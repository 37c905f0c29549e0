import { useSuspenseQuery } from "@tanstack/react-query";
import { useFormContext, useWatch } from "react-hook-form";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { pluralOf } from "../../words/terms.ts";
import { wholeNumber } from "./feature-values.ts";
import type { PlanValues } from "./plan-values.ts";
import { poolsQuery } from "./queries.ts";

export const PERIODS = [
  { value: "day", label: "a day" },
  { value: "week", label: "a week" },
  { value: "month", label: "a month" },
  { value: "year", label: "a year" },
  { value: "once", label: "once" },
];

/** What each pool is given anew in each period. */
export function AllowanceFields() {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  const { control } = useFormContext<PlanValues>();
  const rows = useWatch({ control, name: "allowances" });
  return (
    <Card title="Credits" note="Given anew in each period, counted from when the customer got the plan.">
      <div className="flex flex-col gap-4">
        {rows.map(({ pool }, index) => {
          const name = pools.find(({ key }) => key === pool)?.name ?? pool;
          return <AllowanceRow key={pool} index={index} name={rows.length > 1 ? name : null} />;
        })}
      </div>
    </Card>
  );
}

function AllowanceRow({ index, name }: { index: number; name: string | null }) {
  const {
    register,
    control,
    formState: { errors },
  } = useFormContext<PlanValues>();
  const row = useWatch({ control, name: `allowances.${index}` });
  const wrong = errors.allowances?.[index];
  const of = name === null ? "" : ` of ${name}`;
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="sr-only">{name ?? "Credits"}</legend>
      <Checkbox
        label={name === null ? "The plan gives credits" : `The plan gives credits of ${name}`}
        {...register(`allowances.${index}.isGiven`)}
      />
      {row.isGiven && (
        <div className="grid gap-3 sm:grid-cols-3 sm:pl-6">
          <TextField
            label={`How many credits${of}`}
            type="number"
            step={1}
            error={wrong?.credits?.message}
            {...register(`allowances.${index}.credits`, {
              valueAsNumber: true,
              validate: (value, { allowances }) =>
                allowances[index]?.isGiven ? wholeNumber(1, 1_000_000_000_000)(value) : undefined,
            })}
          />
          <Select label={`How often${of}`} options={PERIODS} {...register(`allowances.${index}.period`)} />
          {row.period !== "once" && (
            <TextField
              label={`Rolls over for${of}`}
              hint={
                row.rollover === 0 ? "0: the rest expires." : `More ${pluralOf(row.period)} for the rest.`
              }
              type="number"
              step={1}
              error={wrong?.rollover?.message}
              {...register(`allowances.${index}.rollover`, {
                valueAsNumber: true,
                validate: (value, { allowances }) =>
                  allowances[index]?.isGiven && allowances[index]?.period !== "once"
                    ? wholeNumber(0, 12)(value)
                    : undefined,
              })}
            />
          )}
        </div>
      )}
    </fieldset>
  );
}
