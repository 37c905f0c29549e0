import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import {
  CREDITS_MAX,
  LIMITS,
  OVERAGES,
  PER_MAX,
  PRICE_MAX,
  QUANTITY_MAX,
  wholeNumber,
} from "../../format/term-fields.ts";
import { formatCost, formatLimit, formatOverage, formatPeriodCredits } from "../../format/terms.ts";
import { IconButton } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import type { PlanVersion } from "../customers/queries.ts";
import type { OverrideValues } from "./override-values.ts";

/** Access, cost and limit of one feature. */
export function FeatureOverride({
  index,
  feature: { key, name, unit },
  planned,
  onRemove,
}: {
  index: number;
  feature: { readonly key: string; readonly name: string; readonly unit: string | null };
  /** Null if the plan does not include the feature. */
  planned: PlanVersion["features"][number] | null;
  onRemove: () => void;
}) {
  const {
    register,
    control,
    formState: { errors },
  } = useFormContext<OverrideValues>();
  const row = useWatch({ control, name: `features.${index}` });
  const wrong = errors.features?.[index];
  // React renders a removed row once more.
  if (row === undefined) return null;
  const path = `features.${index}` as const;
  return (
    <Row name={name} id={key} onRemove={onRemove}>
      <Column>
        <Select
          label="Access"
          options={[
            { value: "plan", label: `As in the plan: ${planned === null ? "not included" : "included"}` },
            { value: "yes", label: "Included" },
            { value: "no", label: "Not included" },
          ]}
          {...register(`${path}.included`)}
        />
      </Column>
      {row.included !== "no" && (
        <>
          <Column>
            <Select
              label="Cost"
              options={[
                {
                  value: "plan",
                  label:
                    planned === null ? "Current cost" : `As in the plan: ${formatCost(planned.cost, unit)}`,
                },
                { value: "own", label: "Custom cost" },
              ]}
              {...register(`${path}.costKind`)}
            />
            {row.costKind === "own" && (
              <div className="grid grid-cols-2 gap-3">
                <NumberField
                  label="Credits"
                  error={wrong?.credits?.message}
                  {...register(`${path}.credits`, number(0, PRICE_MAX))}
                />
                <NumberField
                  label="Per (units)"
                  error={wrong?.per?.message}
                  {...register(`${path}.per`, number(1, PER_MAX))}
                />
              </div>
            )}
          </Column>
          <Column>
            <Select
              label="Limit"
              options={[
                { value: "plan", label: `As in the plan: ${formatLimit(planned?.limit ?? null, unit)}` },
                ...LIMITS.map(({ value, label }) => ({
                  value,
                  label: value === "none" ? label : `Custom limit ${label.toLowerCase()}`,
                })),
              ]}
              {...register(`${path}.limitPeriod`)}
            />
            {row.limitPeriod !== "plan" && row.limitPeriod !== "none" && (
              <NumberField
                label="Limit quantity"
                error={wrong?.quantity?.message}
                {...register(`${path}.quantity`, number(0, QUANTITY_MAX))}
              />
            )}
          </Column>
        </>
      )}
    </Row>
  );
}

/** Credits and overage of one pool. */
export function AllowanceOverride({
  index,
  name,
  planned,
  onRemove,
}: {
  index: number;
  name: string;
  /** Null if the plan has no allowance in the pool. */
  planned: PlanVersion["allowances"][number] | null;
  onRemove: () => void;
}) {
  const {
    register,
    control,
    formState: { errors },
  } = useFormContext<OverrideValues>();
  const row = useWatch({ control, name: `allowances.${index}` });
  const wrong = errors.allowances?.[index];
  if (row === undefined) return null;
  const path = `allowances.${index}` as const;
  const span = row.period === "once" ? "in total" : `per ${row.period}`;
  return (
    <Row name={`Allowance: ${name}`} onRemove={onRemove}>
      <Column>
        <Select
          label="Amount"
          options={[
            {
              value: "plan",
              label: `As in the plan${planned === null ? "" : `: ${formatPeriodCredits(planned)}`}`,
            },
            { value: "own", label: "Custom amount" },
          ]}
          {...register(`${path}.creditsKind`)}
        />
        {row.creditsKind === "own" && (
          <NumberField
            label={`Credits ${span}`}
            hint="Applies from the next period."
            error={wrong?.credits?.message}
            {...register(`${path}.credits`, number(1, CREDITS_MAX))}
          />
        )}
      </Column>
      <Column>
        <Select
          label="Overage"
          options={[
            {
              value: "plan",
              label: `As in the plan${planned === null ? "" : `: ${formatOverage(planned)}`}`,
            },
            ...OVERAGES,
          ]}
          {...register(`${path}.overageKind`)}
        />
        {row.overageKind === "limited" && (
          <NumberField
            label={`Overage ${span}`}
            error={wrong?.overage?.message}
            {...register(`${path}.overage`, number(1, CREDITS_MAX))}
          />
        )}
      </Column>
    </Row>
  );
}

function number(least: number, most: number) {
  return { valueAsNumber: true as const, validate: wholeNumber(least, most) };
}

function NumberField(field: Omit<Parameters<typeof TextField>[0], "type" | "step">) {
  return <TextField type="number" step={1} {...field} />;
}

/** A select, and below it the fields for the selected option. */
function Column({ children }: { children: ReactNode }) {
  return <div className="flex min-w-0 flex-col gap-3">{children}</div>;
}

function Row({
  name,
  id,
  onRemove,
  children,
}: {
  name: string;
  /** Key of a feature. */
  id?: string;
  onRemove: () => void;
  children: ReactNode;
}) {
  return (
    <fieldset className="min-w-0 rounded-md border border-line px-3 pt-2 pb-3">
      <legend className="sr-only">{name}</legend>
      <div className="mb-1 flex items-center justify-between gap-2">
        <p className="min-w-0 font-medium wrap-anywhere">
          {name}{" "}
          {id !== undefined && id !== name && (
            <code className="font-mono text-caption font-normal text-muted">{id}</code>
          )}
        </p>
        <IconButton icon={X} label={`Remove ${name}`} onClick={onRemove} />
      </div>
      <div className="grid gap-3 sm:grid-cols-3">{children}</div>
    </fieldset>
  );
}
