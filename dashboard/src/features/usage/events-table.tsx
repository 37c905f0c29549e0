import { formatCount } from "../../format/numbers.ts";
import { usePlace } from "../../frame/use-place.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { TextLink } from "../../ui/link.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { UsageEvent } from "./queries.ts";

const COLUMNS: readonly Column<UsageEvent>[] = [
  {
    name: "Time",
    hidesWhenNarrow: true,
    cell: ({ occurredAt, recordedAt }) => (
      <>
        <Time at={occurredAt} />
        {isLate(occurredAt, recordedAt) && <div className="text-caption text-muted">Came later</div>}
      </>
    ),
  },
  {
    name: "Event",
    cell: (event) => (
      <>
        <Cut text={event.event} />
        <div className="flex gap-2 text-caption text-muted md:hidden">
          <Time at={event.occurredAt} />
          <Customer event={event} />
        </div>
      </>
    ),
  },
  { name: "Customer", hidesWhenNarrow: true, cell: (event) => <Customer event={event} /> },
  { name: "Metadata", isWide: true, hidesWhenNarrow: true, cell: (event) => <Metadata event={event} /> },
  { name: "Quantity", isNumber: true, cell: ({ quantity }) => formatCount(quantity) },
];

/** The newest first. */
export function EventsTable({ events }: { events: readonly UsageEvent[] }) {
  return (
    <Table
      label="Events"
      columns={COLUMNS}
      rows={events}
      keyOf={({ eventId }) => eventId}
      details={{
        label: ({ event, occurredAt }) => `Details of ${event}, ${occurredAt}`,
        show: (event) => <EventDetails event={event} />,
      }}
    />
  );
}

const LATE_MS = 60_000;

function isLate(occurredAt: string, recordedAt: string): boolean {
  return Date.parse(recordedAt) - Date.parse(occurredAt) > LATE_MS;
}

function Customer({ event: { customerId } }: { event: UsageEvent }) {
  const place = usePlace();
  if (customerId === null) return <span className="text-muted">Erased</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      <Cut text={customerId} />
    </TextLink>
  );
}

function Metadata({ event: { metadata } }: { event: UsageEvent }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return <span className="text-muted">None</span>;
  return (
    <span className="line-clamp-1 font-mono text-caption wrap-anywhere text-muted">
      {entries.map(([name, value]) => `${name}=${textOf(value)}`).join("  ")}
    </span>
  );
}

function EventDetails({ event }: { event: UsageEvent }) {
  return (
    <div className="flex flex-col gap-4">
      <Details
        items={[
          { name: "Event", value: <code className="font-mono">{event.event}</code> },
          { name: "Feature", value: "None: an event belongs to no feature, and moves no credits" },
          { name: "Customer", value: <Customer event={event} /> },
          { name: "Happened", value: <Time at={event.occurredAt} as="exact" /> },
          { name: "Recorded", value: <Time at={event.recordedAt} as="exact" /> },
          { name: "Id", value: <code className="font-mono">{event.eventId}</code> },
          { name: "Request", value: <code className="font-mono">{event.requestId}</code> },
          ...Object.entries(event.metadata ?? {}).map(([name, value]) => ({ name, value: textOf(value) })),
        ]}
      />
      <Disclosure title="JSON">
        <CodeBlock label="the event as JSON" code={JSON.stringify(event, null, 2)} />
      </Disclosure>
    </div>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** In full when you point at it, and below the row. */
function Cut({ text }: { text: string }) {
  return (
    <span title={text} className="block max-w-44 truncate font-mono text-caption">
      {text}
    </span>
  );
}
