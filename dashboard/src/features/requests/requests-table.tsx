import { useEffect } from "react";
import { describeOutcome, pathOf } from "../../format/request-sentences.ts";
import { CustomerLink, EventName, FeatureName, KeyLink, NamedCustomer, Outcome } from "../../frame/links.tsx";
import { useEventNames, useFeatureNames, useMayActAs, useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable, type Pages } from "../../ui/table.tsx";
import { Mono, Muted, Truncated } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { WhyCheckDenied } from "./check-denial.tsx";
import type { LoggedRequest } from "./queries.ts";

const WIDTH = "max-w-36 xl:max-w-64";

export function RequestsTable({
  pages,
  rows,
  newIds,
  onUnfold,
}: {
  pages: Pages;
  rows: readonly LoggedRequest[];
  newIds: ReadonlySet<string>;
  /** 1 when a row is expanded, -1 when it is collapsed. */
  onUnfold: (by: 1 | -1) => void;
}) {
  const nameOf = useFeatureNames();
  const nameOfEvent = useEventNames();
  const columns: readonly Column<LoggedRequest>[] = [
    {
      name: "Time",
      csv: ({ recordedAt }) => recordedAt,
      cell: ({ recordedAt }) => <Time at={recordedAt} as="second" />,
    },
    {
      name: "Request",
      hidesBelow: "md",
      csv: ({ endpoint }) => endpoint,
      cell: ({ endpoint, feature, event }) => (
        <span className="flex items-baseline gap-2">
          <span className="w-26 text-muted">{endpoint}</span>
          {feature !== null ? (
            <FeatureName feature={feature} width={WIDTH} />
          ) : event !== null ? (
            <EventName event={event} width={WIDTH} />
          ) : (
            <Muted />
          )}
        </span>
      ),
    },
    csvColumn("Feature or event", ({ feature, event }) =>
      feature !== null ? nameOf(feature) : event && nameOfEvent(event),
    ),
    {
      name: "Outcome",
      isWide: true,
      csv: (request) => describeOutcome(request),
      cell: (request) => (
        <>
          <Outcome request={request}>
            <WhyCheckDenied request={request} />
            <Define request={request} />
          </Outcome>
          <div className="text-caption wrap-anywhere text-muted md:hidden">
            {[
              request.endpoint,
              request.feature !== null
                ? nameOf(request.feature)
                : request.event && nameOfEvent(request.event),
              request.customerName ?? request.customerId,
            ]
              .filter(Boolean)
              .join(" · ")}
          </div>
        </>
      ),
    },
    {
      name: "Customer",
      hidesBelow: "md",
      csv: ({ customerId, customerName }) => customerName ?? customerId,
      cell: ({ customerId, customerName }) => (
        <CustomerLink customerId={customerId} name={customerName} width={WIDTH} />
      ),
    },
    csvColumn("Customer ID", ({ customerId }) => customerId),
    {
      name: "Idempotency key",
      hidesBelow: "xl",
      csv: ({ idempotencyKey }) => idempotencyKey,
      cell: ({ idempotencyKey }) => (
        <KeyLink idempotencyKey={idempotencyKey}>
          <Truncated text={idempotencyKey ?? ""} />
        </KeyLink>
      ),
    },
    {
      name: "Duration",
      isNumber: true,
      hidesBelow: "xl",
      csv: ({ durationMs }) => durationMs,
      cell: ({ durationMs }) => `${durationMs.toLocaleString("en-US")} ms`,
    },
  ];
  return (
    <ListTable
      label="Requests"
      what="requests"
      pages={pages}
      // New requests are added at the top.
      keepsOrder
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

function RequestDetails({ request, onUnfold }: { request: LoggedRequest; onUnfold: (by: 1 | -1) => void }) {
  // The user may be reading the expanded row, so new rows must not move it.
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
          { name: "Endpoint", value: <Mono>{`POST ${pathOf(endpoint)}`}</Mono> },
          { name: "Status", value: <Mono>{code === null ? String(status) : `${status} ${code}`}</Mono> },
          ...(feature === null ? [] : [{ name: "Feature", value: <FeatureName feature={feature} hasKey /> }]),
          ...(event === null ? [] : [{ name: "Event", value: <EventName event={event} hasKey /> }]),
          {
            name: "Customer",
            value: (
              <NamedCustomer
                customerId={request.customerId}
                name={request.customerName}
                missing="Unknown or erased"
              />
            ),
          },
          {
            name: "Idempotency key",
            value: <KeyLink idempotencyKey={request.idempotencyKey} missing="None stored" />,
          },
          { name: "Request ID", value: <Mono>{request.requestId}</Mono> },
        ]}
      />
      <p className="text-caption text-muted">Request bodies, metadata and API keys are not logged.</p>
      <Json label="the request" value={request} />
    </div>
  );
}

/** Offers to create an unknown feature. */
function Define({ request: { code, feature } }: { request: LoggedRequest }) {
  const scope = useScope();
  const isAdmin = useMayActAs("admin");
  if (code !== "feature_not_found" || feature === null || !isAdmin) return null;
  return (
    <TextLink to="/projects/$projectId/$environment/features" params={scope} search={{ define: feature }}>
      Create feature
    </TextLink>
  );
}
