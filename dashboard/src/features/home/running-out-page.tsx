import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CalendarCheck } from "lucide-react";
import { useState } from "react";
import type { Item } from "../../api/answer.ts";
import { FORECAST_ASSUMES } from "../../format/forecast.ts";
import { formatCount } from "../../format/numbers.ts";
import { NamedCustomer } from "../../frame/links.tsx";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Outlook } from "./balances.tsx";
import { FORECASTS_MAX, forecastsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/running-out");

const PERIODS = [
  { value: "", label: "Any time" },
  { value: "1", label: "Within a day" },
  { value: "7", label: "Within 7 days" },
  { value: "30", label: "Within 30 days" },
];

/** Rows shown at first, because rendering a long table takes longer than the request. */
const ROWS = 50;
const EMPTY_MAX = 50;
const LOADED = { isFetchingNextPage: false, isFetchNextPageError: false, error: null };

/** Customers by days until empty. */
export function RunningOutPage() {
  const scope = useScope();
  const { days } = route.useSearch();
  const navigate = route.useNavigate();
  const { data } = useSuspenseQuery(forecastsQuery(scope, days));
  const columns = useColumns(data.items);
  const [count, setCount] = useState(ROWS);
  return (
    <Page
      title="Running out"
      heading="Customers"
      actions={
        <div className="w-36">
          <Select
            label="Runs out"
            isLabelHidden
            options={
              PERIODS.some(({ value }) => value === String(days ?? "")) ? PERIODS : [...PERIODS, custom(days)]
            }
            value={String(days ?? "")}
            onChange={({ target: { value } }) =>
              void navigate({ search: value === "" ? {} : { days: Number(value) }, replace: true })
            }
          />
        </div>
      }
    >
      <SectionTabs section="Customers" />
      <Card flush>
        {data.items.length === 0 ? (
          <EmptyState
            icon={CalendarCheck}
            title="No customers are running out of credits"
            action={
              <ButtonLink to="/projects/$projectId/$environment/customers" params={scope}>
                Go to Customers
              </ButtonLink>
            }
          >
            This page lists recently charged customers who will run out of credits before their next renewal.
            It also lists customers without credits who were recently charged or denied.
          </EmptyState>
        ) : (
          <>
            <p className="border-b border-line px-4 py-2 text-caption text-muted">
              Unless sorted otherwise, customers without credits come first, then those who run out soonest.
            </p>
            <ListTable
              label="Customers running out"
              what="customers"
              columns={columns}
              rows={data.items.slice(0, count)}
              keyOf={({ customerId }) => customerId}
              pages={{
                ...LOADED,
                hasNextPage: data.items.length > count,
                fetchNextPage: () => setCount(count + ROWS),
              }}
              readAll={async () => data.items}
              cutAt={cutAtOf(data.items)}
            />
            <p className="border-t border-line px-4 py-2 text-caption text-muted">{FORECAST_ASSUMES}</p>
          </>
        )}
      </Card>
    </Page>
  );
}

/** The API lists at most 200 customers, and among them at most 50 without credits. */
function cutAtOf(items: readonly CustomerForecast[]): number | undefined {
  const spent = items.filter(({ pools: [pool] }) => pool?.outlook === "empty").length;
  return items.length >= FORECASTS_MAX || spent >= EMPTY_MAX ? items.length : undefined;
}

function custom(days: number | undefined) {
  return { value: String(days), label: `Within ${days} days` };
}

type CustomerForecast = Item<"listForecasts">;

const toTenth = (value: number): number => Math.round(value * 10) / 10;

function daysLeftOf({ outlook, daysLeft }: CustomerForecast["pools"][number]): number | null {
  if (outlook === "empty") return 0;
  return daysLeft === null ? null : toTenth(daysLeft);
}

function useColumns(items: readonly CustomerForecast[]): Column<CustomerForecast>[] {
  const nameOfPool = usePoolNames();
  const hasPools = items.some(({ pools }) => pools.length > 1);
  return [
    {
      name: "Customer",
      isRowLink: true,
      isWide: true,
      csv: ({ customerName, customerId }) => customerName ?? customerId,
      cell: ({ customerId, customerName, customerEmail, pools: [pool] }) => (
        <>
          <NamedCustomer customerId={customerId} name={customerName} />
          <span className="block text-caption md:hidden">
            <span className="block wrap-anywhere text-muted">{customerEmail}</span>
            <Outlook pool={pool} />
          </span>
        </>
      ),
    },
    csvColumn("Customer ID", ({ customerId }) => customerId),
    {
      name: "Email",
      hidesBelow: "xl",
      csv: ({ customerEmail }) => customerEmail,
      cell: ({ customerEmail }) =>
        customerEmail !== null && (
          <a href={`mailto:${customerEmail}`} className="wrap-anywhere hover:underline">
            {customerEmail}
          </a>
        ),
    },
    {
      name: "Plan",
      hidesBelow: "md",
      csv: ({ plan }) => plan?.name ?? null,
      cell: ({ plan }) => plan?.name ?? "None",
    },
    {
      name: "Pool",
      isShown: hasPools,
      csv: ({ pools: [pool] }) => (pool === undefined ? null : nameOfPool(pool.pool)),
      cell: ({ pools: [pool] }) => pool && nameOfPool(pool.pool),
    },
    {
      name: "Balance",
      isNumber: true,
      csv: ({ pools: [pool] }) => pool?.balance ?? 0,
      cell: ({ pools: [pool] }) => formatCount(pool?.balance ?? 0),
    },
    {
      name: "Used per day",
      isNumber: true,
      hidesBelow: "md",
      csv: ({ pools: [pool] }) => toTenth(pool?.usedPerDay ?? 0),
      sortBy: ({ pools: [pool] }) => pool?.usedPerDay ?? 0,
      cell: ({ pools: [pool] }) => formatCount(Math.round(pool?.usedPerDay ?? 0)),
    },
    {
      name: "Forecast",
      hidesBelow: "md",
      cell: ({ pools: [pool] }) => <Outlook pool={pool} />,
    },
    csvColumn("Days left", ({ pools: [pool] }) => (pool === undefined ? null : daysLeftOf(pool))),
    csvColumn("Empty", ({ pools: [pool] }) => pool?.emptyAt ?? null),
    {
      name: "Renews",
      hidesBelow: "md",
      csv: ({ pools: [pool] }) => pool?.renewsAt ?? null,
      cell: ({ pools: [pool] }) => <Time at={pool?.renewsAt ?? null} as="day" />,
    },
  ];
}
