import { usePlace } from "../../frame/use-place.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { Outcome } from "./outcome.tsx";
import type { LoggedRequest } from "./queries.ts";
import { RequestDetails } from "./request-details.tsx";

export function RequestsTable({
  rows,
  newIds,
  onUnfold,
}: {
  rows: readonly LoggedRequest[];
  newIds: ReadonlySet<string>;
  /** 1 for each row that unfolds, -1 for each that is folded again. */
  onUnfold: (by: 1 | -1) => void;
}) {
  const columns: readonly Column<LoggedRequest>[] = [
    {
      name: "Time",
      cell: ({ recordedAt }) => <Time at={recordedAt} as="second" />,
    },
    {
      name: "Request",
      hidesWhenNarrow: true,
      cell: ({ endpoint, feature, event }) => (
        <span className="flex items-baseline gap-2">
          <span className="w-16 text-muted">{endpoint}</span>
          <Cut text={feature ?? event} />
        </span>
      ),
    },
    {
      name: "Outcome",
      isWide: true,
      cell: (request) => (
        <>
          <Outcome request={request} />
          <div className="text-caption wrap-anywhere text-muted md:hidden">
            {[request.endpoint, request.feature ?? request.event, request.customerId]
              .filter(Boolean)
              .join(" · ")}
          </div>
        </>
      ),
    },
    {
      name: "Customer",
      hidesWhenNarrow: true,
      cell: ({ customerId }) => <Customer customerId={customerId} />,
    },
    {
      name: "Idempotency key",
      hidesWhenNarrow: true,
      cell: ({ idempotencyKey }) => <Key idempotencyKey={idempotencyKey} />,
    },
    {
      name: "Took",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ durationMs }) => `${durationMs.toLocaleString("en-US")} ms`,
    },
  ];
  return (
    <Table
      label="Requests"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      details={{
        label: ({ recordedAt }) => `Details of the request at ${recordedAt}`,
        show: (request) => <RequestDetails request={request} onUnfold={onUnfold} />,
      }}
      toneOf={({ id }) => (newIds.has(id) ? "new" : null)}
    />
  );
}

function Customer({ customerId }: { customerId: string | null }) {
  const place = usePlace();
  if (customerId === null) return <Missing />;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      <Cut text={customerId} />
    </TextLink>
  );
}

function Key({ idempotencyKey }: { idempotencyKey: string | null }) {
  const place = usePlace();
  if (idempotencyKey === null) return <Missing />;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...place, idempotencyKey }}
    >
      <Cut text={idempotencyKey} />
    </TextLink>
  );
}

/** In full when you point at it, and behind the time. */
function Cut({ text }: { text: string | null }) {
  if (text === null) return <Missing />;
  return (
    <span title={text} className="block max-w-36 truncate font-mono xl:max-w-64 text-caption">
      {text}
    </span>
  );
}

function Missing() {
  return (
    <span aria-hidden className="text-muted">
      –
    </span>
  );
}
