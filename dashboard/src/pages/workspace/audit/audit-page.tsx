import { useMutation, useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, ScrollText, X } from "lucide-react";
import { answerOf, api } from "../../../api/client.ts";
import { type Project, projectsQuery } from "../../../api/projects.ts";
import { useMayActAs } from "../../../frame/use-session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { More, type Pages } from "../../../ui/more.tsx";
import { Page } from "../../../ui/page.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { auditQuery } from "../queries.ts";
import { type AuditFilters, toAuditQuery } from "./audit-filters.ts";
import type { Entry } from "./entry.ts";
import { EntryDetails } from "./entry-details.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { Sentence, sentenceText } from "./sentence.tsx";

const route = getRouteApi("/signed-in/workspace/audit");

export function AuditPage() {
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const pages = useSuspenseInfiniteQuery(auditQuery(filters));
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const entries = pages.data.pages.flatMap(({ items }) => items);
  const mayExport = useMayActAs("admin");
  const exporting = useMutation({ mutationFn: exportAudit });
  const clear = (): void => void navigate({ search: {}, replace: true });
  return (
    <Page
      title="Audit log"
      note="Who changed what, and what it was before. Nobody can change or delete a line of it."
      actions={
        <>
          {Object.keys(filters).length > 0 && (
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
        {entries.length === 0 ? (
          <Nothing pages={pages} onClear={clear} />
        ) : (
          <>
            <Table
              label="Audit log"
              columns={columnsOf(projects)}
              rows={entries}
              keyOf={({ id }) => id}
              details={{
                label: (entry) => `Before and after: ${sentenceText(entry)}`,
                show: (entry) => <EntryDetails entry={entry} />,
              }}
            />
            <More pages={pages} shown={entries.length} what="entries" />
          </>
        )}
      </Card>
    </Page>
  );
}

/** Exports every entry that matches the filters, including those the page has not loaded yet. */
async function exportAudit(filters: AuditFilters): Promise<void> {
  const query = toAuditQuery(filters);
  const file = await answerOf(api.GET("/manage/v1/audit/export", { params: { query }, parseAs: "blob" }));
  saveFile(`audit-${new Date().toISOString().slice(0, 10)}.ndjson`, file);
}

function columnsOf(projects: readonly Project[]): Column<Entry>[] {
  return [
    { name: "When", cell: ({ recordedAt }) => <Time at={recordedAt} /> },
    { name: "What", isWide: true, cell: (entry) => <Sentence entry={entry} /> },
    {
      name: "Where",
      hidesWhenNarrow: true,
      cell: ({ projectId, environment }) =>
        projectId === null || environment === null ? (
          <span className="text-muted">Workspace</span>
        ) : (
          <span className="flex items-center gap-1.5">
            <Badge tone={environment}>{environment === "live" ? "LIVE" : "Test"}</Badge>
            {projects.length > 1 && projects.find(({ id }) => id === projectId)?.name}
          </span>
        ),
    },
  ];
}

function Nothing({ pages, onClear }: { pages: Pages; onClear: () => void }) {
  const { hasNextPage: isMore, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage } = pages;
  return (
    <EmptyState
      icon={ScrollText}
      title={isMore ? "Nothing among the newest" : "Nothing matches"}
      action={
        isMore ? (
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Look further back
          </Button>
        ) : (
          <Button onClick={onClear}>Show everything</Button>
        )
      }
    >
      {isMore
        ? "Many thousand entries were looked through; older ones are left."
        : "Everything that was ever done here was looked through."}
      {isFetchNextPageError && <ProblemCallout error={error} />}
    </EmptyState>
  );
}
