import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { outcomeOptions, readOutcome, writeOutcome } from "./outcome-filter.ts";
import type { RequestFilters } from "./request-filters.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/requests");

const ENDPOINTS = [
  { value: "", label: "Any endpoint" },
  { value: "check", label: "check" },
  { value: "consume", label: "consume" },
  { value: "events", label: "events" },
];

export function FilterBar({ filters }: { filters: RequestFilters }) {
  const navigate = route.useNavigate();
  const narrow = (to: RequestFilters): void =>
    void navigate({ search: ({ live }) => ({ ...to, ...(live === true ? { live } : {}) }) });
  const { endpoint: _endpoint, ...beside } = filters;
  const { status: _status, code: _code, reason: _reason, ...besideOutcome } = filters;
  return (
    <div className="flex flex-wrap items-end gap-2 max-md:w-full">
      <CustomerField
        customerId={filters.customerId ?? ""}
        onFilter={(customerId) => {
          const { customerId: _, ...others } = filters;
          narrow(customerId === "" ? others : { ...others, customerId });
        }}
      />
      <div className="w-36 max-md:flex-1">
        <Select
          label="Endpoint"
          isLabelHidden
          options={ENDPOINTS}
          value={filters.endpoint ?? ""}
          onChange={({ target }) => {
            const endpoint = (["check", "consume", "events"] as const).find(
              (known) => known === target.value,
            );
            narrow(endpoint === undefined ? beside : { ...beside, endpoint });
          }}
        />
      </div>
      <div className="w-56 max-md:w-auto max-md:flex-1">
        <Select
          label="Outcome"
          isLabelHidden
          options={outcomeOptions(filters)}
          value={writeOutcome(filters)}
          onChange={({ target }) => narrow({ ...besideOutcome, ...readOutcome(target.value) })}
        />
      </div>
      {Object.keys(filters).length > 0 && (
        <Button tone="quiet" onClick={() => narrow({})}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** By the whole id, so it waits for Enter: half an id finds nobody. */
function CustomerField({
  customerId,
  onFilter,
}: {
  customerId: string;
  onFilter: (customerId: string) => void;
}) {
  const [typed, setTyped] = useState(customerId);
  // The address may change by itself: back, or a link.
  const [followed, setFollowed] = useState(customerId);
  if (followed !== customerId) {
    setFollowed(customerId);
    setTyped(customerId);
  }
  return (
    <form
      className="w-52 max-md:w-full"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(typed.trim());
      }}
    >
      <TextField
        type="search"
        label="Customer id"
        isLabelHidden
        placeholder="Customer id, then Enter"
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === "" && customerId !== "") onFilter("");
        }}
      />
    </form>
  );
}
