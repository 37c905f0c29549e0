import { useQuery } from "@tanstack/react-query";
import type { Item } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { outcomeOf } from "../../words/request-outcome.ts";
import { Nothing, Part } from "./part.tsx";
import { latestRequestsQuery } from "./queries.ts";

type Request = Item<"listRequests">;

const TONES = { ok: "good", denied: "bad", refused: "warn", failed: "bad" } as const;

const COLUMNS: readonly Column<Request>[] = [
  { name: "Time", hidesWhenNarrow: true, cell: ({ recordedAt }) => <Time at={recordedAt} as="ago" /> },
  { name: "Outcome", cell: (request) => <Outcome request={request} /> },
  {
    name: "Request",
    isWide: true,
    cell: ({ endpoint, feature, event, customerId, recordedAt }) => (
      <>
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span className="text-muted">{endpoint}</span>
          <span className="font-mono text-caption wrap-anywhere">{feature ?? event}</span>
        </span>
        <span className="text-caption text-muted md:hidden">
          {customerId !== null && `${customerId}, `}
          <Time at={recordedAt} as="ago" />
        </span>
      </>
    ),
  },
  { name: "Customer", hidesWhenNarrow: true, cell: ({ customerId }) => <Customer customerId={customerId} /> },
];

export function LatestRequests() {
  const place = usePlace();
  const query = useQuery(latestRequestsQuery(place));
  return (
    <Part
      title="Latest requests"
      query={query}
      rows={10}
      actions={
        <TextLink to="/projects/$projectId/$environment/requests" params={place}>
          All requests
        </TextLink>
      }
    >
      {(requests) =>
        requests.length === 0 ? (
          <Nothing>None in the last 7 days, which is as long as they are kept.</Nothing>
        ) : (
          <Table label="Latest requests" columns={COLUMNS} rows={requests} keyOf={({ id }) => id} />
        )
      }
    </Part>
  );
}

function Outcome({ request }: { request: Request }) {
  const place = usePlace();
  const { kind, name, why } = outcomeOf(request);
  const { endpoint, reason, idempotencyKey } = request;
  return (
    <span className="flex items-center gap-2">
      <Badge tone={TONES[kind]}>{name}</Badge>
      {request.isReplay && <Badge>Replay</Badge>}
      {why !== null && <span className="max-md:hidden">{why}</span>}
      {reason !== null && endpoint === "consume" && idempotencyKey !== null && (
        <TextLink
          to="/projects/$projectId/$environment/keys/$idempotencyKey/why"
          params={{ ...place, idempotencyKey }}
          preload={false}
        >
          Why?
        </TextLink>
      )}
    </span>
  );
}

function Customer({ customerId }: { customerId: string | null }) {
  const place = usePlace();
  if (customerId === null) return <span className="text-muted">–</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      {customerId}
    </TextLink>
  );
}
