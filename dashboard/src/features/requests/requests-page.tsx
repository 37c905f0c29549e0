import { getRouteApi } from "@tanstack/react-router";
import { Activity, ArrowUp, KeyRound, Send } from "lucide-react";
import { useCallback, useState } from "react";
import { countOf } from "../../format/numbers.ts";
import { ENDPOINTS } from "../../format/request-sentences.ts";
import { rangeOf } from "../../format/usage-range.ts";
import { CustomerFilter } from "../../frame/customer-picker.tsx";
import { useKey } from "../../frame/keyboard.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Switch } from "../../ui/choices.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { ListFooter } from "../../ui/table.tsx";
import { useClock } from "../../ui/time.tsx";
import { RangeFields } from "../../ui/usage/range-fields.tsx";
import { FeatureField, OutcomeField } from "./filter-fields.tsx";
import { FindKey } from "./key-page.tsx";
import { filtersOf, NO_OUTCOME, type RequestFilters, readSearch } from "./request-filters.ts";
import { useHeldRows, useRequestLog } from "./request-log.ts";
import { RequestsTable } from "./requests-table.tsx";
import { TestRequestButton } from "./test-request-form.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/requests");

export function RequestsPage() {
  const scope = useScope();
  const search = route.useSearch();
  const filters = filtersOf(search);
  const isLive = search.live === true;
  const setLive = useSetLive();
  useKey(
    "l",
    useCallback(() => setLive(!isLive), [setLive, isLive]),
  );
  const { pages, rows, newIds, error } = useRequestLog(scope, filters, isLive);
  const [openRows, setOpenRows] = useState(0);
  const { shown, held, release } = useHeldRows(rows, openRows > 0);
  return (
    <Page
      title="Requests"
      note="Requests from the last 7 days, sampled under heavy load."
      actions={
        <>
          <LiveSwitch isLive={isLive} hasTrouble={error !== null} onChange={setLive} />
          <TestRequestButton start={rows.find(({ feature }) => feature !== null)} />
        </>
      }
    >
      {error !== null && <Callout tone="warn">New requests cannot be loaded. Retrying…</Callout>}
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <FilterBar filters={filters} />
        <FindKey />
      </div>
      <div className="relative">
        {held > 0 && <HeldButton held={held} onClick={release} />}
        <Card flush>
          {shown.length === 0 ? (
            <>
              <NoRequests isFiltered={Object.keys(filters).length > 0} />
              {pages.hasNextPage && <ListFooter pages={pages} shown={0} what="requests" />}
            </>
          ) : (
            <RequestsTable
              pages={pages}
              rows={shown}
              newIds={newIds}
              onUnfold={(by) => setOpenRows((open) => open + by)}
            />
          )}
        </Card>
      </div>
    </Page>
  );
}

function useSetLive(): (isLive: boolean) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (isLive) =>
      void navigate({
        search: ({ live: _, ...search }) => (isLive ? { ...search, live: true as const } : search),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
}

/** Button that shows the new rows. */
function HeldButton({ held, onClick }: { held: number; onClick: () => void }) {
  return (
    <div className="sticky top-16 z-10 flex h-0 justify-center md:top-4">
      <div className="h-8 rounded-md bg-surface shadow-over">
        <Button tone="primary" icon={ArrowUp} onClick={onClick}>
          Show {countOf(held, "new request")}
        </Button>
      </div>
    </div>
  );
}

const ENDPOINT_OPTIONS = [
  { value: "", label: "Any endpoint" },
  ...ENDPOINTS.map((endpoint) => ({ value: endpoint, label: endpoint })),
];

function FilterBar({ filters }: { filters: RequestFilters }) {
  const navigate = route.useNavigate();
  const clock = useClock();
  const narrow = (change: Record<string, unknown>): void =>
    void navigate({
      search: ({ live }) => ({
        ...filtersOf(readSearch({ ...filters, ...change })),
        ...(live === true ? { live } : {}),
      }),
    });
  return (
    <search className="flex flex-wrap items-end gap-2 max-md:w-full">
      <CustomerFilter customerId={filters.customerId} onChange={(customerId) => narrow({ customerId })} />
      <Select
        label="Endpoint"
        isLabelHidden
        isFitted
        options={ENDPOINT_OPTIONS}
        value={filters.endpoint ?? ""}
        onChange={({ target }) => narrow({ endpoint: target.value })}
      />
      <OutcomeField outcome={filters} onChange={(outcome) => narrow({ ...NO_OUTCOME, ...outcome })} />
      <FeatureField feature={filters.feature} onChange={(feature) => narrow({ feature })} />
      <RangeFields
        search={filters}
        range={rangeOf({ range: "7d", ...filters }, Date.now(), clock)}
        anyName="Last 7 days"
        names={["24h"]}
        onChange={narrow}
      />
      {Object.keys(filters).length > 0 && (
        <Button
          tone="quiet"
          onClick={() =>
            void navigate({ search: ({ live }): { live?: true } => (live === true ? { live } : {}) })
          }
        >
          Clear
        </Button>
      )}
    </search>
  );
}

function LiveSwitch({
  isLive,
  hasTrouble,
  onChange,
}: {
  isLive: boolean;
  hasTrouble: boolean;
  onChange: (isLive: boolean) => void;
}) {
  return (
    <div title="Shortcut: L">
      <Switch
        isOn={isLive}
        onChange={onChange}
        label={
          <>
            Live tail
            <span
              aria-hidden
              className={
                isLive && !hasTrouble
                  ? "size-2 animate-pulse rounded-full bg-good"
                  : "size-2 rounded-full bg-line-strong"
              }
            />
          </>
        }
      />
    </div>
  );
}

function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  const scope = useScope();
  const isOperator = useMayActAs("operator");
  if (isFiltered) {
    return (
      <EmptyState
        icon={Activity}
        title="No matches"
        action={
          <ButtonLink to="/projects/$projectId/$environment/requests" params={scope}>
            Clear filters
          </ButtonLink>
        }
      >
        No requests in the last 7 days match the filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Activity}
      title="No requests in the last 7 days"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {scope.environment === "test" && isOperator && (
            <ButtonLink
              icon={Send}
              to="/projects/$projectId/$environment/requests"
              params={scope}
              search={{ do: "try", live: true }}
            >
              Send a test request
            </ButtonLink>
          )}
          <ButtonLink icon={KeyRound} to="/projects/$projectId/$environment/api-keys" params={scope}>
            Go to API keys
          </ButtonLink>
        </div>
      }
    >
      Your backend needs an API key for this environment. Turn on Live tail to see new requests within
      seconds.
    </EmptyState>
  );
}
