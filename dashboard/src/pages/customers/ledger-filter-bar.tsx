import { getRouteApi } from "@tanstack/react-router";
import { Select } from "../../ui/field.tsx";
import { ENTRY_FILTER_WORDS } from "../../words/ledger-words.ts";
import type { LedgerFilters } from "./ledger-filters.ts";
import type { FeatureName } from "./ledger-queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/ledger");

export function LedgerFilterBar({
  filters,
  features,
}: {
  filters: LedgerFilters;
  features: readonly FeatureName[];
}) {
  const navigate = route.useNavigate();
  function change(name: "kind" | "feature", value: string): void {
    // Who filters looks for something else now than one charge.
    void navigate({
      search: ({ [name]: _, charge: __, ...others }) => ({
        ...others,
        ...(value === "" ? {} : { [name]: value }),
      }),
      resetScroll: false,
    });
  }
  return (
    <search className="grid gap-2 border-b border-line p-3 sm:grid-cols-[14rem_14rem]">
      <Select
        label="Kind"
        isLabelHidden
        value={filters.kind ?? ""}
        onChange={(event) => change("kind", event.target.value)}
        options={[
          { value: "", label: "Every kind" },
          ...Object.entries(ENTRY_FILTER_WORDS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Select
        label="Feature"
        isLabelHidden
        value={filters.feature ?? ""}
        onChange={(event) => change("feature", event.target.value)}
        options={[
          { value: "", label: "Every feature" },
          ...features.map(({ key, name }) => ({ value: key, label: name })),
          ...unknownOf(filters, features),
        ]}
      />
    </search>
  );
}

/** What an address says is shown, even where no such feature is left to choose. */
function unknownOf({ feature }: LedgerFilters, features: readonly FeatureName[]) {
  return feature === undefined || features.some(({ key }) => key === feature)
    ? []
    : [{ value: feature, label: feature }];
}
