import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Activity, FilterX } from "lucide-react";
import type { Item } from "../../api/answer.ts";
import { readAllOf } from "../../api/lists.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { describeOutcome } from "../../format/request-sentences.ts";
import { rangeOf } from "../../format/usage-range.ts";
import { KeyLink, Outcome } from "../../frame/links.tsx";
import { useEventNames, useFeatureNames } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { ButtonLink, DocsLink, TextLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Truncated } from "../../ui/text.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { RangeFields } from "../../ui/usage/range-fields.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { ChargeLink } from "../ledger/ledger-links.tsx";
import { customerRequestsQuery } from "../ledger/queries.ts";
import { WhyCheckDenied } from "../requests/check-denial.tsx";
import { FeatureField, OutcomeField } from "../requests/filter-fields.tsx";
import {
  type CustomerRequestFilters,
  NO_OUTCOME,
  readCustomerRequestFilters,
} from "../requests/request-filters.ts";
import { type CustomerScope, customerQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/requests");

type Request = Item<"listCustomerRequests">;

/** A customer's requests and their results. */
export function RequestsTab() {
  const customerScope = route.useParams();
  const filters = route.useSearch();
  const pages = useSuspenseInfiniteQuery(customerRequestsQuery(customerScope, filters));
  const { name } = useSuspenseQuery(customerQuery(customerScope)).data;
  const names = { feature: useFeatureNames(), event: useEventNames() };
  const requests = pages.data.pages.flatMap(({ items }) => items);
  const shared = sharedIds(requests);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = requests.length === 0 && !pages.hasNextPage;
  return (
    <Card flush>
      {(isFiltered || !isEmpty) && <FilterBar filters={filters} />}
      {isEmpty ? (
        <NoRequests isFiltered={isFiltered} hasWindow={windowStart !== null} />
      ) : (
        <ListTable
          label="Customer requests"
          about={customerScope.customerId}
          readAll={readAllOf(customerRequestsQuery(customerScope, filters))}
          columns={columnsOf({ customerScope, customerName: name, shared, names })}
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
      )}
      {windowStart !== null && !pages.hasNextPage && (
        <div className="border-t border-line p-4">
          <WindowEdge windowStart={windowStart} />
        </div>
      )}
    </Card>
  );
}

function FilterBar({ filters }: { filters: CustomerRequestFilters }) {
  const navigate = route.useNavigate();
  const clock = useClock();
  const change = (changed: Record<string, unknown>): void =>
    void navigate({
      search: (before) => readCustomerRequestFilters({ ...before, ...changed }),
      resetScroll: false,
    });
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <OutcomeField outcome={filters} onChange={(outcome) => change({ ...NO_OUTCOME, ...outcome })} />
      <FeatureField feature={filters.feature} onChange={(feature) => change({ feature })} />
      <RangeFields
        search={filters}
        range={rangeOf(filters, Date.now(), clock)}
        anyName="Any time"
        onChange={change}
      />
    </search>
  );
}

function NoRequests({ isFiltered, hasWindow }: { isFiltered: boolean; hasWindow: boolean }) {
  const customerScope = route.useParams();
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No matches"
        action={
          <ButtonLink
            to="/projects/$projectId/$environment/customers/$customerId/requests"
            params={customerScope}
            search={{}}
          >
            Clear filters
          </ButtonLink>
        }
      >
        Checks, events, replays and errors are kept for 7 days.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={Activity} title={hasWindow ? "No requests in your history window" : "No requests yet"}>
      Requests with this customer ID appear here. See the{" "}
      <DocsLink href="/docs/guides/integration">integration guide</DocsLink>. Checks, events, replays and
      errors are kept for 7 days.
    </EmptyState>
  );
}

/** IDs of requests with several charges. Each charge has its own row. */
function sharedIds(requests: readonly Request[]): ReadonlySet<string> {
  const ids = requests.map(({ id }) => id);
  return new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
}

type Context = {
  readonly customerScope: CustomerScope;
  readonly customerName: string | null;
  readonly shared: ReadonlySet<string>;
  readonly names: Readonly<Record<"feature" | "event", (key: string) => string>>;
};

function columnsOf({ customerScope, customerName, shared, names }: Context): Column<Request>[] {
  return [
    {
      name: "Time",
      hidesBelow: "md",
      csv: ({ recordedAt }) => recordedAt,
      cell: ({ recordedAt }) => <Time at={recordedAt} />,
    },
    csvColumn("Endpoint", ({ endpoint }) => endpoint),
    {
      name: "Request",
      csv: (request) => nameOfAsked(request, names),
      cell: (request) => <Asked request={request} isItem={shared.has(request.id)} names={names} />,
    },
    csvColumn("Quantity", ({ quantity }) => quantity),
    csvColumn("Reversed quantity", ({ reversedQuantity }) => reversedQuantity),
    {
      name: "Outcome",
      isWide: true,
      csv: (request) => describeOutcome(request),
      cell: (request) => (
        <Answer request={request} customerScope={customerScope} customerName={customerName} />
      ),
    },
    {
      name: "Charge",
      isNumber: true,
      hidesBelow: "md",
      csv: ({ kind, credits }) => (kind === "charge" ? credits : null),
      cell: (request) => <Charge request={request} customerScope={customerScope} />,
    },
    {
      name: "Key",
      hidesBelow: "md",
      csv: ({ idempotencyKey }) => idempotencyKey,
      cell: ({ idempotencyKey }) =>
        idempotencyKey !== null && (
          <KeyLink idempotencyKey={idempotencyKey}>
            <Truncated text={idempotencyKey} />
          </KeyLink>
        ),
    },
  ];
}

function nameOfAsked({ endpoint, feature, event }: Request, names: Context["names"]): string {
  if (feature !== null) return names.feature(feature);
  if (event !== null) return names.event(event);
  return endpoint.startsWith("holds/") ? "Hold" : "Unknown";
}

function Asked({
  request,
  request: { endpoint, feature, event, quantity, memberId, recordedAt },
  isItem,
  names,
}: {
  request: Request;
  isItem: boolean;
  names: Context["names"];
}) {
  return (
    <div className="max-md:whitespace-normal">
      <span className="font-medium" title={feature ?? event ?? undefined}>
        {nameOfAsked(request, names)}
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

function Answer({
  request,
  customerScope,
  customerName,
}: {
  request: Request;
} & Pick<Context, "customerScope" | "customerName">) {
  const { kind, id, credits, balance, reason, quantity, reversedQuantity } = request;
  const { projectId, environment, customerId } = customerScope;
  return (
    <div>
      <Outcome
        request={request}
        explanation={
          kind === "denial" ? (
            <TextLink
              to="/projects/$projectId/$environment/denials/$denialId"
              params={{ projectId, environment, denialId: id }}
            >
              Why?
            </TextLink>
          ) : (
            <WhyCheckDenied request={{ ...request, customerId, customerName }} />
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
