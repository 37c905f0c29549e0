import { getRouteApi } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { EnterField } from "../../ui/enter-field.tsx";
import { useClock } from "../../ui/preferences.ts";
import { RangeFields } from "../../ui/usage/range-fields.tsx";
import { rangeOf } from "../../words/usage-range.ts";
import { type EventFilters, readEventFilters } from "./event-filters.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/events");

/** Every filter stands in the address: a list can be sent to somebody, and going back finds it. */
export function EventFilterBar({ filters }: { filters: EventFilters }) {
  const clock = useClock();
  const navigate = route.useNavigate();
  const change = (changed: Partial<Record<keyof EventFilters, unknown>>): void =>
    void navigate({ search: (before) => readEventFilters({ ...before, ...changed }), resetScroll: false });
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <div className="w-52 max-sm:w-full">
        <EnterField
          type="search"
          label="Customer id"
          placeholder="Customer id, then Enter"
          maxLength={255}
          value={filters.customerId ?? ""}
          onEnter={(customerId) => change({ customerId })}
        />
      </div>
      <div className="w-48 max-sm:w-full">
        <EnterField
          type="search"
          label="Event key"
          placeholder="Event key, then Enter"
          maxLength={120}
          value={filters.event ?? ""}
          onEnter={(event) => change({ event })}
        />
      </div>
      <div className="w-52 max-sm:w-full">
        <EnterField
          type="search"
          label="Metadata"
          placeholder="Metadata, as model=large"
          pattern="[^=]+=.*"
          title="A field, an equals sign, and its value: model=large"
          maxLength={500}
          value={filters.metadata ?? ""}
          onEnter={(metadata) => change({ metadata })}
        />
      </div>
      <RangeFields
        search={filters}
        range={rangeOf(filters, Date.now(), clock)}
        anyName="At any time"
        onChange={change}
      />
      {Object.keys(filters).length > 0 && (
        <Button tone="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}
