import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Gauge, PenLine } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import { FeatureTabs } from "./feature-tabs.tsx";
import { ListFilter } from "./list-filter.tsx";
import { NameEventKeyDialog } from "./name-event-key-dialog.tsx";
import { type EventKey, eventKeysQuery } from "./queries.ts";
import { matches } from "./search.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/features/event-keys");

const CHOICES = [
  { value: "all", label: "All" },
  { value: "unnamed", label: "Without a name" },
  { value: "named", label: "Named" },
];

/** Any key is taken as it comes; a name is for people. */
export function EventKeysPage() {
  const place = usePlace();
  const { search, show } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const [naming, setNaming] = useState<EventKey | null>(null);
  const { data: keys } = useSuspenseQuery(eventKeysQuery(place));
  const shown = keys.filter(
    ({ key, name }) =>
      matches(search, key, name) && (show === undefined || (name === null) === (show === "unnamed")),
  );
  const columns: readonly Column<EventKey>[] = [
    { name: "Event key", isWide: true, cell: (eventKey) => <Name eventKey={eventKey} /> },
    {
      name: "Unit",
      hidesWhenNarrow: true,
      cell: ({ unit }) => unit ?? <span className="text-muted">None</span>,
    },
    {
      name: "Events lately",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ seen }) =>
        seen === null ? <span className="text-muted">None</span> : formatCount(seen.events),
    },
    {
      name: "Last seen",
      hidesWhenNarrow: true,
      cell: ({ seen }) => (seen === null ? null : <Time at={seen.lastSeenAt} as="ago" />),
    },
    ...(mayEdit
      ? [
          {
            name: "Actions",
            isNameHidden: true,
            isNumber: true,
            cell: (eventKey: EventKey) => (
              <Button
                tone="quiet"
                icon={PenLine}
                aria-label={`${eventKey.name === null ? "Name" : "Rename"} ${eventKey.key}`}
                onClick={() => setNaming(eventKey)}
              >
                {eventKey.name === null ? "Name" : "Rename"}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Page
      title="Event keys"
      heading="Features"
      note="What usage events are called. They are counted, never charged."
    >
      <FeatureTabs />
      {keys.length > 0 && (
        <ListFilter
          what="event keys"
          search={search}
          onSearch={(text) =>
            void navigate({ search: (before) => ({ ...before, search: text }), replace: true })
          }
          show={show ?? "all"}
          onShow={(choice) =>
            void navigate({
              search: (before) => ({
                ...before,
                show: choice === "named" || choice === "unnamed" ? choice : undefined,
              }),
              replace: true,
            })
          }
          choices={CHOICES}
        />
      )}
      <Card flush>
        {shown.length > 0 ? (
          <>
            <Table label="Event keys" columns={columns} rows={shown} keyOf={({ key }) => key} />
            <footer className="border-t border-line px-4 py-2 text-caption text-muted">
              {countOf(shown.length, "event key")}. “Lately” is among the newest 20,000 events of this
              environment, at most 35 days back.
            </footer>
          </>
        ) : keys.length > 0 ? (
          <EmptyState icon={Gauge} title="No event key is like that">
            There are {countOf(keys.length, "event key")} in all: change the filter to see them.
          </EmptyState>
        ) : (
          <EmptyState
            icon={Gauge}
            title="No events yet"
            action={
              <TextLink to="/projects/$projectId/$environment/first-event" params={place}>
                Send the first one
              </TextLink>
            }
          >
            Every key that your backend sends to /v1/events appears here by itself, and can then be given a
            name.
          </EmptyState>
        )}
      </Card>
      {naming !== null && <NameEventKeyDialog eventKey={naming} onClose={() => setNaming(null)} />}
    </Page>
  );
}

function Name({ eventKey: { key, name } }: { eventKey: EventKey }) {
  if (name === null)
    return (
      <span className="flex flex-wrap items-center gap-2">
        <span className="font-mono wrap-anywhere">{key}</span>
        <Badge tone="warn">No name</Badge>
      </span>
    );
  return (
    <div>
      <span className="font-medium wrap-anywhere">{name}</span>
      <div className="font-mono text-caption text-muted wrap-anywhere">{key}</div>
    </div>
  );
}
