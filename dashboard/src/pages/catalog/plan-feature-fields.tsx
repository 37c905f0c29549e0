import { useSuspenseQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { capitalize, costInWords } from "../../words/terms.ts";
import { wholeNumber } from "./feature-values.ts";
import type { PlanValues } from "./plan-values.ts";
import { type Feature, featuresQuery } from "./queries.ts";
import { matches } from "./search.ts";

const LIMITS = [
  { value: "none", label: "No limit" },
  { value: "day", label: "a day" },
  { value: "week", label: "a week" },
  { value: "month", label: "a month" },
  { value: "year", label: "a year" },
  { value: "once", label: "in all" },
];

const SEARCHED_FROM = 12;
const QUANTITY_MAX = Number.MAX_SAFE_INTEGER;

/** Which features, and how often. */
export function PlanFeatureFields() {
  const place = usePlace();
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const { control } = useFormContext<PlanValues>();
  const rows = useWatch({ control, name: "features" });
  const [search, setSearch] = useState("");
  if (rows.length === 0)
    return (
      <Card title="Features" flush>
        <EmptyState
          icon={Sparkles}
          title="There are no features yet"
          action={
            <ButtonLink
              to="/projects/$projectId/$environment/features"
              params={place}
              search={{ define: "" }}
            >
              Define a feature
            </ButtonLink>
          }
        >
          A plan without features gives credits that nobody can spend.
        </EmptyState>
      </Card>
    );
  return (
    <Card
      title="Features"
      note="What customers on the plan may use. Costs are pinned when it is published."
      flush
    >
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
  if (feature === null) return "Just defined: read again for its cost.";
  const price = capitalize(costInWords(feature.cost, feature.unit));
  return feature.archivedAt === null
    ? price
    : `${price}. Archived: once taken out, it cannot be put in again.`;
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
                label={`Limit of ${name}`}
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
              label={`Period of the limit of ${name}`}
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
