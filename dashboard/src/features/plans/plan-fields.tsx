import { useSuspenseQuery } from "@tanstack/react-query";
import { Plus, Sparkles } from "lucide-react";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import {
  CREDITS_MAX,
  LIMITS,
  OVERAGES,
  type OverageKind,
  QUANTITY_MAX,
  wholeNumber,
} from "../../format/term-fields.ts";
import { capitalize, formatCost, pluralOf } from "../../format/terms.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { matches } from "../catalog/list-filter.tsx";
import { PoolDialog } from "../catalog/pools-page.tsx";
import { type Feature, featuresQuery, poolsQuery } from "../catalog/queries.ts";
import { emptyAllowance, type PlanValues } from "./plan-values.ts";

const PERIODS = [
  { value: "day", label: "Daily" },
  { value: "week", label: "Weekly" },
  { value: "month", label: "Monthly" },
  { value: "year", label: "Yearly" },
  { value: "once", label: "Once" },
];

/** Credits per pool and period. */
export function AllowanceFields() {
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const { control, setValue } = useFormContext<PlanValues>();
  const rows = useWatch({ control, name: "allowances" });
  const [isCreating, setCreating] = useState(false);
  return (
    <Card
      title="Credits"
      note="Renewed each period, starting when the plan is assigned."
      actions={
        <Button tone="quiet" icon={Plus} onClick={() => setCreating(true)}>
          Create pool
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {rows.map(({ pool }, index) => {
          const name = pools.find(({ key }) => key === pool)?.name ?? pool;
          return <AllowanceRow key={pool} index={index} name={rows.length > 1 ? name : null} />;
        })}
      </div>
      {isCreating && (
        <PoolDialog
          pool={null}
          onSaved={({ key }) =>
            setValue("allowances", [...rows, { ...emptyAllowance(key), isGiven: true }], {
              shouldDirty: true,
            })
          }
          onClose={() => setCreating(false)}
        />
      )}
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
  const of = name === null ? "" : ` (${name})`;
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="sr-only">{name ?? "Credits"}</legend>
      <Checkbox label={`Include ${name ?? "credits"}`} {...register(`allowances.${index}.isGiven`)} />
      {row.isGiven && (
        <div className="grid gap-3 sm:grid-cols-2 sm:pl-6 xl:grid-cols-3">
          <TextField
            label="Credits"
            labelSuffix={of}
            type="number"
            step={1}
            error={wrong?.credits?.message}
            {...register(`allowances.${index}.credits`, {
              valueAsNumber: true,
              validate: (value, { allowances }) =>
                allowances[index]?.isGiven ? wholeNumber(1, CREDITS_MAX)(value) : undefined,
            })}
          />
          <Select
            label="Period"
            labelSuffix={of}
            options={PERIODS}
            {...register(`allowances.${index}.period`)}
          />
          {row.period !== "once" && (
            <TextField
              label="Rollover periods"
              labelSuffix={of}
              hint={
                row.rollover === 0
                  ? "0 means unused credits expire."
                  : `Number of ${pluralOf(row.period)} to keep unused credits.`
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
      {row.isGiven && <OverageFields index={index} of={of} />}
    </fieldset>
  );
}

const OVERAGE_HINTS = {
  none: "Requests are denied when no credits are left.",
  limited: "Used after all credits are spent. You invoice customers for it.",
  unlimited: "Used after all credits are spent. You invoice customers for it.",
} as const satisfies Record<OverageKind, string>;

/** Usage after all credits are spent. `of` names the pool. */
function OverageFields({ index, of }: { index: number; of: string }) {
  const {
    register,
    control,
    formState: { errors },
  } = useFormContext<PlanValues>();
  const { overageKind, period } = useWatch({ control, name: `allowances.${index}` });
  return (
    <div className="grid gap-3 sm:grid-cols-2 sm:pl-6 xl:grid-cols-3">
      <Select
        label="Overage"
        labelSuffix={of}
        hint={OVERAGE_HINTS[overageKind]}
        options={OVERAGES}
        {...register(`allowances.${index}.overageKind`)}
      />
      {overageKind === "limited" && (
        <TextField
          label="Overage limit"
          labelSuffix={of}
          hint={period === "once" ? "Credits in total." : `Credits each ${period}.`}
          type="number"
          step={1}
          error={errors.allowances?.[index]?.overage?.message}
          {...register(`allowances.${index}.overage`, {
            valueAsNumber: true,
            validate: (value, { allowances }) =>
              allowances[index]?.isGiven && allowances[index]?.overageKind === "limited"
                ? wholeNumber(1, CREDITS_MAX)(value)
                : undefined,
          })}
        />
      )}
    </div>
  );
}

const SEARCHED_FROM = 12;

/** Included features and their limits. */
export function PlanFeatureFields() {
  const scope = useScope();
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const { control } = useFormContext<PlanValues>();
  const rows = useWatch({ control, name: "features" });
  const [search, setSearch] = useState("");
  if (rows.length === 0)
    return (
      <Card title="Features" flush>
        <EmptyState
          icon={Sparkles}
          title="No features yet"
          action={
            <ButtonLink
              to="/projects/$projectId/$environment/features"
              params={scope}
              search={{ define: "" }}
            >
              Create feature
            </ButtonLink>
          }
        >
          Without features, a plan's credits cannot be spent.
        </EmptyState>
      </Card>
    );
  return (
    <Card title="Features" note="Costs are fixed when the plan is published." flush>
      {rows.length >= SEARCHED_FROM && (
        <div className="border-b border-line px-4 py-3">
          <TextField
            label="Filter features"
            isLabelHidden
            type="search"
            placeholder="Filter features"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        </div>
      )}
      <ul>
        {rows.map(({ feature: key }, index) => {
          const feature = features.find((each) => each.key === key) ?? null;
          if (!matches(search, key, feature?.name ?? null)) return null;
          return <FeatureRow key={key} index={index} name={feature?.name ?? key} hint={hintOf(feature)} />;
        })}
      </ul>
    </Card>
  );
}

function hintOf(feature: Feature | null): string {
  if (feature === null) return "New feature: reload to see its cost.";
  const price = capitalize(formatCost(feature.cost, feature.unit));
  return feature.archivedAt === null ? price : `${price}. Archived: cannot be added again once removed.`;
}

function FeatureRow({ index, name, hint }: { index: number; name: string; hint: string }) {
  const {
    register,
    control,
    formState: { errors },
  } = useFormContext<PlanValues>();
  const { isIncluded, period } = useWatch({ control, name: `features.${index}` });
  return (
    <li className="flex min-h-14 flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-2 last:border-b-0">
      <Checkbox label={name} hint={hint} {...register(`features.${index}.isIncluded`)} />
      {isIncluded && (
        <div className="flex items-start gap-2">
          {period !== "none" && (
            <div className="w-28">
              <TextField
                label={`Limit for ${name}`}
                isLabelHidden
                type="number"
                step={1}
                error={errors.features?.[index]?.quantity?.message}
                {...register(`features.${index}.quantity`, {
                  valueAsNumber: true,
                  validate: (value, { features }) =>
                    features[index]?.isIncluded && features[index]?.period !== "none"
                      ? wholeNumber(0, QUANTITY_MAX)(value)
                      : undefined,
                })}
              />
            </div>
          )}
          <div className="w-32">
            <Select
              label={`Limit period for ${name}`}
              isLabelHidden
              options={LIMITS}
              {...register(`features.${index}.period`)}
            />
          </div>
        </div>
      )}
    </li>
  );
}
