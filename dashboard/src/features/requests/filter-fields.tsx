import { useQuery } from "@tanstack/react-query";
import { featuresQuery } from "../../api/catalog-lists.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Select } from "../../ui/field.tsx";
import { type OutcomeFilter, outcomeOptions, readOutcome, writeOutcome } from "./request-filters.ts";

/** Outcome, reason and error code as one filter. */
export function OutcomeField({
  outcome,
  onChange,
}: {
  outcome: OutcomeFilter;
  onChange: (outcome: OutcomeFilter) => void;
}) {
  return (
    <Select
      label="Outcome"
      isLabelHidden
      isFitted
      options={outcomeOptions(outcome)}
      value={writeOutcome(outcome)}
      onChange={({ target }) => onChange(readOutcome(target.value))}
    />
  );
}

/** Features by name, including the feature in the URL if that feature no longer exists. */
export function FeatureField({
  feature,
  onChange,
}: {
  feature: string | undefined;
  /** Undefined for all features. */
  onChange: (feature: string | undefined) => void;
}) {
  const { data: features = [] } = useQuery(featuresQuery(useScope()));
  const isUnknown = feature !== undefined && features.every(({ key }) => key !== feature);
  return (
    <Select
      label="Feature"
      isLabelHidden
      isFitted
      value={feature ?? ""}
      onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
      options={[
        { value: "", label: "All features" },
        ...features.map(({ key, name }) => ({ value: key, label: name })),
        ...(isUnknown ? [{ value: feature, label: feature }] : []),
      ]}
    />
  );
}
