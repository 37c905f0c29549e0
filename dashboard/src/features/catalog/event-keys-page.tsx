import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Gauge, PenLine } from "lucide-react";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { useWrite } from "../../api/use-write.ts";
import { formatCount } from "../../format/numbers.ts";
import { nameOfKey } from "../../format/terms.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, TextLink } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { NAME_RULES, NameField } from "./key-fields.tsx";
import { ListFilter, matches, NoMatches } from "./list-filter.tsx";
import { type EventKey, eventKeysQuery, readEventKeySearch, refreshCatalog } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/features/event-keys");

const CHOICES = [
  { value: "all", label: "All" },
  { value: "unnamed", label: "Unnamed" },
  { value: "named", label: "Named" },
];

/** The API accepts any event key. A name is optional. */
export function EventKeysPage() {
  const scope = useScope();
  const { search, show } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const [naming, setNaming] = useState<EventKey | null>(null);
  const { data: keys } = useSuspenseQuery(eventKeysQuery(scope));
  const shown = keys.filter(
    ({ key, name }) =>
      matches(search, key, name) && (show === undefined || (name === null) === (show === "unnamed")),
  );
  const columns: readonly Column<EventKey>[] = [
    {
      name: "Event key",
      isWide: true,
      csv: ({ key, name }) => name ?? key,
      cell: (eventKey) => <Name eventKey={eventKey} />,
    },
    csvColumn("Key", ({ key }) => key),
    {
      name: "Unit",
      hidesBelow: "md",
      csv: ({ unit }) => unit,
      cell: ({ unit }) => unit ?? <span className="text-muted">None</span>,
    },
    {
      name: "Recent events",
      isNumber: true,
      hidesBelow: "md",
      csv: ({ seen }) => seen?.events ?? 0,
      cell: ({ seen }) =>
        seen === null ? <span className="text-muted">None</span> : formatCount(seen.events),
    },
    {
      name: "Last seen",
      hidesBelow: "md",
      csv: ({ seen }) => seen?.lastSeenAt ?? null,
      cell: ({ seen }) => (seen === null ? null : <Time at={seen.lastSeenAt} as="ago" />),
    },
    {
      isShown: mayEdit,
      name: "Actions",
      isActions: true,
      cell: (eventKey: EventKey) => (
        <Button
          tone="quiet"
          icon={PenLine}
          aria-label={`${eventKey.name === null ? "Add name for" : "Rename"} ${eventKey.key}`}
          onClick={() => setNaming(eventKey)}
        >
          {eventKey.name === null ? "Add name" : "Rename"}
        </Button>
      ),
    },
  ];
  return (
    <Page
      title="Event keys"
      heading="Features"
      note="Keys for usage events. Events are counted, not charged."
    >
      <SectionTabs section="Features" />
      {keys.length > 0 && (
        <ListFilter
          what="event keys"
          search={search}
          show={show}
          onChange={(changed) =>
            void navigate({
              search: (before) => readEventKeySearch({ ...before, ...changed }),
              replace: true,
            })
          }
          choices={CHOICES}
        />
      )}
      <Card flush>
        {shown.length > 0 ? (
          <ListTable
            label="Event keys"
            columns={columns}
            rows={shown}
            keyOf={({ key }) => key}
            what="event keys"
            note="“Recent” means the newest 20,000 events, at most 35 days old."
          />
        ) : keys.length > 0 ? (
          <NoMatches icon={Gauge} count={keys.length} noun="event key" />
        ) : (
          <EmptyState
            icon={Gauge}
            title="No events yet"
            action={
              <TextLink to="/projects/$projectId/$environment/first-event" params={scope}>
                Send your first event
              </TextLink>
            }
          >
            Event keys appear here after your backend sends events to /v1/events.
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

type Values = { name: string; unit: string };

function NameEventKeyDialog({
  eventKey: { key, name, unit },
  onClose,
}: {
  eventKey: EventKey;
  onClose: () => void;
}) {
  const scope = useScope();
  const { register, handleSubmit, control, formState } = useForm<Values>({
    // The suggested name can be confirmed with Enter.
    defaultValues: { name: name ?? nameOfKey(key).slice(0, 120), unit: unit ?? "" },
  });
  const values = { name: "", unit: "", ...useWatch({ control }) };
  const requestOf = (wanted: Values) => ({ params: { path: { ...scope, key } }, body: toBody(wanted) });
  const save = useWrite("put", "/manage/v1/projects/{projectId}/{environment}/event-keys/{key}", {
    onSuccess: async (saved) => {
      await refreshCatalog();
      notify(`Named ${key}`, `${name ?? "Unnamed"} → ${saved.name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={name === null ? "Name event key" : "Rename event key"}
      note={<span className="font-mono text-caption">{key}</span>}
      write={save}
      request={requestOf(values)}
      action="Save name"
      noValidate
      onSubmit={handleSubmit((wanted) => save.mutate(requestOf(wanted)))}
      onClose={onClose}
    >
      <NameField error={formState.errors.name?.message} {...register("name", NAME_RULES)} />
      <TextField
        label="Unit"
        hint="Optional. Use the singular form."
        placeholder="token"
        maxLength={60}
        autoComplete="off"
        {...register("unit")}
      />
    </WriteDialog>
  );
}

function toBody({ name, unit }: Values): Body<"putEventKey"> {
  return { name: name.trim(), unit: unit.trim() === "" ? null : unit.trim() };
}
