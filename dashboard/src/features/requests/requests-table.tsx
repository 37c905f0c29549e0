import { type ReactNode, useEffect } from "react";
import { outcomeOf } from "../../format/request-sentences.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { LoggedRequest } from "./queries.ts";

export function RequestsTable({
  rows,
  newIds,
  onUnfold,
}: {
  rows: readonly LoggedRequest[];
  newIds: ReadonlySet<string>;
  /** 1 when a row is expanded, -1 when it is collapsed. */
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
      name: "Duration",
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
  const scope = useScope();
  if (customerId === null) return <Missing />;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...scope, customerId }}>
      <Cut text={customerId} />
    </TextLink>
  );
}

function Key({ idempotencyKey }: { idempotencyKey: string | null }) {
  const scope = useScope();
  if (idempotencyKey === null) return <Missing />;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...scope, idempotencyKey }}
    >
      <Cut text={idempotencyKey} />
    </TextLink>
  );
}

/** Truncated text; the tooltip shows it in full. */
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

function RequestDetails({ request, onUnfold }: { request: LoggedRequest; onUnfold: (by: 1 | -1) => void }) {
  // The user reads an expanded row, so new rows must not move it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per expanded row
  useEffect(() => {
    onUnfold(1);
    return () => onUnfold(-1);
  }, []);
  const { endpoint, feature, event, status, code } = request;
  return (
    <div className="flex flex-col gap-3">
      <Details
        items={[
          { name: "Time", value: <Time at={request.recordedAt} as="exact" /> },
          { name: "Endpoint", value: <Mono>{`POST /v1/${endpoint}`}</Mono> },
          { name: "Status", value: <Mono>{code === null ? String(status) : `${status} ${code}`}</Mono> },
          ...(feature === null ? [] : [{ name: "Feature", value: <Mono>{feature}</Mono> }]),
          ...(event === null ? [] : [{ name: "Event", value: <Mono>{event}</Mono> }]),
          { name: "Customer", value: <CustomerDetail request={request} /> },
          { name: "Idempotency key", value: <KeyDetail request={request} /> },
          { name: "Request id", value: <Mono>{request.requestId}</Mono> },
        ]}
      />
      <p className="text-caption text-muted">Bodies, metadata and API keys are not logged.</p>
      <Json label="the request" value={request} />
    </div>
  );
}

function CustomerDetail({ request: { customerId } }: { request: LoggedRequest }) {
  const scope = useScope();
  if (customerId === null) return <span className="text-muted">Unknown or erased</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...scope, customerId }}>
      {customerId}
    </TextLink>
  );
}

function KeyDetail({ request: { idempotencyKey } }: { request: LoggedRequest }) {
  const scope = useScope();
  if (idempotencyKey === null) return <span className="text-muted">None stored</span>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...scope, idempotencyKey }}
    >
      {idempotencyKey}
    </TextLink>
  );
}

function Mono({ children }: { children: ReactNode }) {
  return <span className="font-mono text-caption wrap-anywhere">{children}</span>;
}

const TONES = { ok: "good", denied: "bad", refused: "warn", failed: "bad" } as const satisfies Record<
  string,
  BadgeTone
>;

/** Outcome, reason and a link to details. */
export function Outcome({ request }: { request: LoggedRequest }) {
  const { kind, name, why } = outcomeOf(request);
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <Badge tone={TONES[kind]}>{name}</Badge>
      {request.isReplay && <Badge>Replay</Badge>}
      {why !== null && (
        <span title={request.code === null ? undefined : `${request.status} ${request.code}`}>{why}</span>
      )}
      <Why request={request} />
      <Define request={request} />
    </span>
  );
}

/** Only stored denials can be explained: not checks, and not denials that can be retried with the same key. */
function Why({ request: { reason, endpoint, idempotencyKey } }: { request: LoggedRequest }) {
  const scope = useScope();
  if (reason === null || endpoint !== "consume" || idempotencyKey === null) return null;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey/why"
      params={{ ...scope, idempotencyKey }}
      preload={false}
    >
      Why?
    </TextLink>
  );
}

/** Offers to create an unknown feature. */
function Define({ request: { code, feature } }: { request: LoggedRequest }) {
  const scope = useScope();
  const isAdmin = useMayActAs("admin");
  if (code !== "feature_not_found" || feature === null || !isAdmin) return null;
  return (
    <TextLink to="/projects/$projectId/$environment/features" params={scope} search={{ define: feature }}>
      Create it
    </TextLink>
  );
}
