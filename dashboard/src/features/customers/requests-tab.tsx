import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Activity } from "lucide-react";
import type { Item } from "../../api/answer.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { KeyLink, Outcome } from "../../frame/links.tsx";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Truncated } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { ChargeLink } from "../ledger/ledger-links.tsx";
import { customerRequestsQuery } from "../ledger/queries.ts";
import type { CustomerScope } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/requests");

type Request = Item<"listCustomerRequests">;

/** A customer's requests and their results. */
export function RequestsTab() {
  const customerScope = route.useParams();
  const pages = useSuspenseInfiniteQuery(customerRequestsQuery(customerScope));
  const requests = pages.data.pages.flatMap(({ items }) => items);
  const shared = sharedIds(requests);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const edge = windowStart !== null && !pages.hasNextPage && (
    <div className="border-t border-line p-4">
      <WindowEdge windowStart={windowStart} />
    </div>
  );
  if (requests.length === 0 && !pages.hasNextPage) {
    return (
      <Card flush>
        <EmptyState
          icon={Activity}
          title={windowStart === null ? "No requests yet" : "No requests in your history window"}
        >
          Requests with this customer ID appear here. See the{" "}
          <a href="/docs/guides/integration" className="font-medium text-accent underline underline-offset-2">
            integration guide
          </a>
          . Checks, events, replays and errors are kept for 7 days.
        </EmptyState>
        {edge}
      </Card>
    );
  }
  return (
    <Card flush>
      <PagedTable
        label="Requests"
        columns={columnsOf(customerScope, shared)}
        rows={requests}
        // Unique, because the charges of one request are for different features.
        keyOf={({ id, feature }) => `${id} ${feature}`}
        details={{
          label: ({ endpoint, feature, recordedAt }) => `Details of ${feature ?? endpoint}, ${recordedAt}`,
          show: (request) => <CodeBlock label="the request" code={JSON.stringify(request, null, 2)} />,
        }}
        pages={pages}
        what={shared.size === 0 ? "requests" : "requests and items"}
      />
      {edge}
    </Card>
  );
}

/** IDs of requests with several charges, each in its own row. */
function sharedIds(requests: readonly Request[]): ReadonlySet<string> {
  const ids = requests.map(({ id }) => id);
  return new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
}

function columnsOf(customerScope: CustomerScope, shared: ReadonlySet<string>): Column<Request>[] {
  return [
    { name: "Time", hidesWhenNarrow: true, cell: ({ recordedAt }) => <Time at={recordedAt} /> },
    { name: "Request", cell: (request) => <Asked request={request} isItem={shared.has(request.id)} /> },
    {
      name: "Outcome",
      isWide: true,
      cell: (request) => <Answer request={request} customerScope={customerScope} />,
    },
    {
      name: "Charge",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: (request) => <Charge request={request} customerScope={customerScope} />,
    },
    {
      name: "Key",
      hidesWhenNarrow: true,
      cell: ({ idempotencyKey }) =>
        idempotencyKey !== null && (
          <KeyLink idempotencyKey={idempotencyKey}>
            <Truncated text={idempotencyKey} />
          </KeyLink>
        ),
    },
  ];
}

function Asked({
  request: { endpoint, feature, event, quantity, memberId, recordedAt },
  isItem,
}: {
  request: Request;
  isItem: boolean;
}) {
  return (
    <div className="max-md:whitespace-normal">
      <span className="font-medium">
        {feature ?? event ?? (endpoint.startsWith("holds/") ? "Hold" : "Unknown")}
      </span>
      {quantity !== null && <span className="text-muted tabular-nums"> × {formatCount(quantity)}</span>}
      <div className="text-caption text-muted">
        {endpoint}
        {isItem && ", one of several items"}
        {memberId !== null && <span className="wrap-anywhere">, member {memberId}</span>}
        <span className="block md:hidden">
          <Time at={recordedAt} />
        </span>
      </div>
    </div>
  );
}

function Answer({ request, customerScope }: { request: Request; customerScope: CustomerScope }) {
  const { kind, id, credits, balance, reason, quantity, reversedQuantity } = request;
  const { projectId, environment } = customerScope;
  return (
    <div>
      <Outcome
        request={request}
        explanation={
          kind === "denial" && (
            <TextLink
              to="/projects/$projectId/$environment/denials/$denialId"
              params={{ projectId, environment, denialId: id }}
            >
              See why
            </TextLink>
          )
        }
      >
        <span className="md:hidden">
          <Charge request={request} customerScope={customerScope} />
        </span>
        {reversedQuantity !== null && reversedQuantity > 0 && (
          <Badge>{reversedQuantity === quantity ? "Reversed" : "Partly reversed"}</Badge>
        )}
      </Outcome>
      {reason === "insufficient_credits" && credits !== null && balance !== null && (
        <span className="text-caption text-muted">
          required {formatCount(credits)}, available {formatCount(balance)}
        </span>
      )}
    </div>
  );
}

function Charge({
  request: { kind, id, credits },
  customerScope,
}: {
  request: Request;
  customerScope: CustomerScope;
}) {
  if (kind !== "charge" || credits === null) return null;
  return (
    <ChargeLink customerScope={customerScope} charge={id} item={null} to={null}>
      {formatChange(-credits)}
    </ChargeLink>
  );
}
