import {
  useInfiniteQuery,
  useMutation,
  useSuspenseInfiniteQuery,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { getRouteApi, useLocation } from "@tanstack/react-router";
import { Download, ScrollText, X } from "lucide-react";
import type { Scope } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { projectsQuery } from "../../api/projects.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";
import { RANGE_OPTIONS } from "../../format/usage-range.ts";
import { CustomerPicker } from "../../frame/customer-picker.tsx";
import { useMayActAs, useSession } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { ListTable, type Pages } from "../../ui/table.tsx";
import { auditQuery, membersQuery, tokensQuery } from "../workspace/queries.ts";
import { auditColumns, sentenceText } from "./audit-columns.tsx";
import { ACTIONS, type AuditFilters, canCollapse, readAuditFilters, toAuditQuery } from "./audit-filters.ts";
import type { Entry } from "./entry.ts";
import { EntryDetails } from "./entry-details.tsx";

const route = getRouteApi("/signed-in/workspace/audit");

export function AuditPage() {
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const pages = useSuspenseInfiniteQuery(auditQuery(filters, useSession()));
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const entries = pages.data.pages.flatMap(({ items }) => items);
  const mayExport = useMayActAs("admin");
  const exporting = useMutation({ mutationFn: exportAudit });
  const clear = (): void => void navigate({ search: {}, replace: true });
  // A member with roles only in projects always reads one environment, so that this is not a filter to clear.
  const { projectId, environment, ...others } = filters;
  const isFiltered = Object.keys(useSession().role === null ? others : filters).length > 0;
  return (
    <Page
      title="Audit log"
      note="Every change: who made it, and the values before and after."
      actions={
        <>
          {isFiltered && (
            <Button icon={X} onClick={clear}>
              Clear filters
            </Button>
          )}
          {mayExport && (
            <Button icon={Download} isBusy={exporting.isPending} onClick={() => exporting.mutate(filters)}>
              Export
            </Button>
          )}
        </>
      }
    >
      <ProblemCallout error={exporting.error} />
      <FilterBar entries={entries} />
      <Card flush>
        <ListTable
          label="Audit log"
          columns={auditColumns(projects, entries)}
          rows={entries}
          keyOf={({ id }) => id}
          details={{
            label: (entry) => `Before and after: ${sentenceText(entry)}`,
            show: (entry) => <EntryDetails entry={entry} />,
          }}
          pages={pages}
          what="entries"
          empty={<Nothing pages={pages} filters={filters} onClear={clear} />}
        />
      </Card>
    </Page>
  );
}

/** Exports every entry that matches the filters, including entries that the page has not loaded yet. */
async function exportAudit(filters: AuditFilters): Promise<void> {
  const query = toAuditQuery({ ...filters, each: true });
  const file = await answerOf(api.GET("/manage/v1/audit/export", { params: { query }, parseAs: "blob" }));
  saveFile(`audit-${new Date().toISOString().slice(0, 10)}.ndjson`, file);
}

/** Label of the filter, and of the button in an empty log. */
const SHOW_EACH = "Show each customer in bulk changes";

function Nothing({ pages, filters, onClear }: { pages: Pages; filters: AuditFilters; onClear: () => void }) {
  const navigate = route.useNavigate();
  const isCollapsed = canCollapse(filters) && filters.each !== true;
  const { hasNextPage: isMore, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  return (
    <EmptyState
      icon={ScrollText}
      title={isMore ? "No matches in recent entries" : "No matches"}
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {isMore ? (
            <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Search older entries
            </Button>
          ) : (
            <Button onClick={onClear}>Show all entries</Button>
          )}
          {isCollapsed && (
            <Button onClick={() => void navigate({ search: { ...filters, each: true }, replace: true })}>
              {SHOW_EACH}
            </Button>
          )}
        </div>
      }
    >
      {isMore && "Only the most recent entries were searched. "}
      {isCollapsed && "Individual customers in bulk changes were not searched."}
      {!isMore && !isCollapsed && "All entries were searched."}
      {isFetchNextPageError && <ProblemCallout error={error} />}
    </EmptyState>
  );
}

/** Reads the filters from the URL, not from the loaded data, so that quick successive changes are not lost. */
function FilterBar({
  entries,
}: {
  /** Provides the names of deleted actors. */
  entries: readonly Entry[];
}) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const isLimited = useSession().role === null;
  const navigate = route.useNavigate();
  const filters = readAuditFilters(useLocation({ select: ({ search }) => search }));
  const set = (change: Record<string, unknown>): void =>
    void navigate({ search: (before) => readAuditFilters({ ...before, ...change }), replace: true });
  const scope = filters.projectId === undefined ? "" : `${filters.projectId}/${filters.environment}`;
  const isCustom = filters.from !== undefined || filters.to !== undefined;
  return (
    <search className="flex flex-wrap items-end gap-3">
      <div className="w-64 max-sm:w-full">
        <CustomerPicker
          label="Customer"
          isFilter
          scope={scopeOfFilters(filters)}
          customerId={filters.customerId ?? ""}
          onChoose={(customer) =>
            // A customer belongs to one environment. Clearing the customer keeps the environment.
            set({
              customerId: customer?.customerId,
              ...(customer?.environment === undefined
                ? {}
                : { projectId: customer.projectId, environment: customer.environment }),
            })
          }
        />
      </div>
      <Select
        label="Actor"
        isFitted
        options={useActorOptions(filters.actor, entries)}
        value={filters.actor ?? ""}
        onChange={({ target }) => set({ actor: target.value })}
      />
      <Select
        label="Action"
        isFitted
        options={withUnknown([{ value: "", label: "Any action" }, ...ACTIONS], filters.action)}
        value={filters.action ?? ""}
        onChange={({ target }) => set({ action: target.value })}
      />
      <Select
        label="Environment"
        isFitted
        options={[
          ...(isLimited ? [] : [{ value: "", label: "All environments" }]),
          ...projects.flatMap(({ id, name, environments }) =>
            environments.map(({ environment }) => ({
              value: `${id}/${environment}`,
              label: `${name} (${ENVIRONMENT_NAMES[environment]})`,
            })),
          ),
        ]}
        value={scope}
        onChange={({ target }) => {
          const [projectId, environment] = target.value.split("/");
          set({ projectId, environment });
        }}
      />
      <Select
        label="Time range"
        isFitted
        options={[
          { value: "", label: "Any time" },
          ...RANGE_OPTIONS,
          ...(isCustom ? [{ value: "custom", label: "Custom range" }] : []),
        ]}
        value={isCustom ? "custom" : (filters.range ?? "")}
        onChange={({ target }) => set({ range: target.value, from: undefined, to: undefined })}
      />
      <Day label="From (UTC)" value={filters.from} onChange={(from) => set({ from })} />
      <Day label="To (UTC)" value={filters.to} onChange={(to) => set({ to })} />
      {canCollapse(filters) && (
        <div className="flex min-h-8 items-center">
          <Checkbox
            label={SHOW_EACH}
            checked={filters.each === true}
            onChange={({ target }) => set({ each: target.checked || undefined })}
          />
        </div>
      )}
    </search>
  );
}

function scopeOfFilters({ projectId, environment }: AuditFilters): Scope | null {
  return projectId === undefined || environment === undefined
    ? null
    : { projectId: String(projectId), environment };
}

function Day({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string) => void;
}) {
  return (
    <TextField
      label={label}
      type="date"
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function useActorOptions(chosen: string | undefined, entries: readonly Entry[]) {
  const enabled = useSession().role !== null;
  const { data: memberPages } = useInfiniteQuery({ ...membersQuery, enabled });
  const { data: tokenPages } = useInfiniteQuery({ ...tokensQuery, enabled });
  const members = memberPages?.pages.flatMap(({ items }) => items) ?? [];
  const tokens = tokenPages?.pages.flatMap(({ items }) => items) ?? [];
  const known = [
    { value: "", label: "Anyone" },
    ...members.map(({ id, name }) => ({ value: `member:${id}`, label: name })),
    ...tokens.map(({ id, name }) => ({ value: `token:${id}`, label: `Token ${name}` })),
    { value: "command", label: "Server commands" },
    { value: "system", label: "Purser" },
  ];
  const gone = entries.find(({ actor }) => `${actor.kind}:${actor.id}` === chosen)?.actor.name;
  return withUnknown(known, chosen, gone ?? undefined);
}

type Option = { value: string; label: string };

/** Adds the selected value if it is not in the list. */
function withUnknown(options: readonly Option[], chosen: string | undefined, label = chosen): Option[] {
  if (chosen === undefined || options.some(({ value }) => value === chosen)) return [...options];
  return [...options, { value: chosen, label: label ?? chosen }];
}
