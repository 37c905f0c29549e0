import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { plansQuery } from "../../api/catalog-lists.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import type { CustomerFilters } from "./queries.ts";
import { readFilters } from "./read-filters.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers");

const BLOCKED: Record<string, boolean> = { true: true, false: false };

/** Every filter stands in the address: a list can be sent to somebody, and going back finds it. */
export function CustomerFilterBar({ filters }: { filters: CustomerFilters }) {
  const navigate = route.useNavigate();
  const { data: plans } = useSuspenseQuery(plansQuery(usePlace()));
  function change(changed: Partial<Record<keyof CustomerFilters, unknown>>, replace = false): void {
    void navigate({ search: (before) => readFilters({ ...before, ...changed }), replace });
  }
  return (
    <search className="grid grid-cols-2 gap-2 border-b border-line p-3 sm:grid-cols-3 lg:grid-cols-[1fr_10rem_10rem_10rem]">
      <div className="col-span-full lg:col-span-1">
        <FilterField
          label="Search customers"
          type="search"
          placeholder="Id, name, email or billing reference"
          maxLength={255}
          value={filters.search ?? ""}
          onFilter={(search) => change({ search }, true)}
        />
      </div>
      <Select
        label="Plan"
        isLabelHidden
        value={filters.plan ?? ""}
        onChange={(event) => change({ plan: event.target.value })}
        options={[
          { value: "", label: "Any plan" },
          ...plans.map(({ key, name }) => ({ value: key, label: name })),
        ]}
      />
      <Select
        label="Blocked"
        isLabelHidden
        value={String(filters.blocked ?? "")}
        onChange={(event) => change({ blocked: BLOCKED[event.target.value] })}
        options={[
          { value: "", label: "Blocked or not" },
          { value: "true", label: "Blocked" },
          { value: "false", label: "Not blocked" },
        ]}
      />
      <FilterField
        label="Balance below"
        inputMode="numeric"
        placeholder="Balance below…"
        maxLength={15}
        value={String(filters.balanceBelow ?? "")}
        onFilter={(text) => change({ balanceBelow: text.replaceAll(/\D/g, "") }, true)}
      />
    </search>
  );
}
