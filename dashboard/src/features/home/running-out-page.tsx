import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CalendarCheck, FileDown } from "lucide-react";
import { useState } from "react";
import type { Item } from "../../api/answer.ts";
import { toCsv } from "../../format/csv.ts";
import { FORECAST_ASSUMES } from "../../format/forecast.ts";
import { formatCount } from "../../format/numbers.ts";
import { NamedCustomer } from "../../frame/links.tsx";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { type Column, More, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Outlook } from "./balances.tsx";
import { forecastsQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/running-out");

const PERIODS = [
  { value: "", label: "Any time" },
  { value: "1", label: "Within a day" },
  { value: "7", label: "Within 7 days" },
  { value: "30", label: "Within 30 days" },
];

/** Rows shown at first, because rendering a long table takes longer than the request. */
const ROWS = 50;
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
        <>
          {data.items.length > 0 && (
            <Button
              icon={FileDown}
              onClick={() => saveFile(`running-out-${scope.environment}.csv`, toFile(data.items), "text/csv")}
            >
              Download CSV
            </Button>
          )}
          <div className="w-36">
            <Select
              label="Runs out"
              isLabelHidden
              options={
                PERIODS.some(({ value }) => value === String(days ?? ""))
                  ? PERIODS
                  : [...PERIODS, custom(days)]
              }
              value={String(days ?? "")}
              onChange={({ target: { value } }) =>
                void navigate({ search: value === "" ? {} : { days: Number(value) }, replace: true })
              }
            />
          </div>
        </>
      }
    >
      <SectionTabs section="Customers" />
      <Card flush>
        {data.items.length === 0 ? (
          <EmptyState
            icon={CalendarCheck}
            title="No customers are running out"
            action={
              <ButtonLink to="/projects/$projectId/$environment/customers" params={scope}>
                Go to Customers
              </ButtonLink>
            }
          >
            This page lists recently charged customers who will run out before their credits renew. It also
            lists customers without credits who were recently charged or denied.
          </EmptyState>
        ) : (
          <>
            <p className="border-b border-line px-4 py-2 text-caption text-muted">
              Customers without credits first, then by days until empty.
            </p>
            <Table
              label="Customers by days until empty"
              columns={columns}
              rows={data.items.slice(0, count)}
              keyOf={({ customerId }) => customerId}
            />
            <More
              pages={{
                ...LOADED,
                hasNextPage: data.items.length > count,
                fetchNextPage: () => setCount(count + ROWS),
              }}
              shown={Math.min(count, data.items.length)}
              what="customers"
            />
            <p className="border-t border-line px-4 py-2 text-caption text-muted">{FORECAST_ASSUMES}</p>
          </>
        )}
      </Card>
    </Page>
  );
}

function custom(days: number | undefined) {
  return { value: String(days), label: `Within ${days} days` };
}

type CustomerForecast = Item<"listForecasts">;

/** The list with exact times, for a spreadsheet. */
function toFile(items: readonly CustomerForecast[]): string {
  return toCsv([
    [
      "Customer ID",
      "Name",
      "Email",
      "Plan",
      "Pool",
      "Balance",
      "Used per day",
      "Days left",
      "Empty",
      "Renews",
    ],
    ...items.flatMap(({ customerId, customerName, customerEmail, plan, pools: [pool] }) =>
      pool === undefined
        ? []
        : [
            [
              ...[customerId, customerName, customerEmail, plan?.name ?? null, pool.pool],
              ...[pool.balance, toTenth(pool.usedPerDay), daysLeftOf(pool), pool.emptyAt, pool.renewsAt],
            ],
          ],
    ),
  ]);
}

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
    {
      name: "Email",
      hidesBelow: "md",
      cell: ({ customerEmail }) =>
        customerEmail !== null && (
          <a href={`mailto:${customerEmail}`} className="wrap-anywhere hover:underline">
            {customerEmail}
          </a>
        ),
    },
    { name: "Plan", hidesBelow: "md", cell: ({ plan }) => plan?.name ?? "None" },
    { name: "Pool", isShown: hasPools, cell: ({ pools: [pool] }) => pool && nameOfPool(pool.pool) },
    { name: "Balance", isNumber: true, cell: ({ pools: [pool] }) => formatCount(pool?.balance ?? 0) },
    {
      name: "Used per day",
      isNumber: true,
      hidesBelow: "md",
      cell: ({ pools: [pool] }) => formatCount(Math.round(pool?.usedPerDay ?? 0)),
    },
    { name: "Forecast", hidesBelow: "md", cell: ({ pools: [pool] }) => <Outlook pool={pool} /> },
    {
      name: "Renews",
      hidesBelow: "md",
      cell: ({ pools: [pool] }) => <Time at={pool?.renewsAt ?? null} as="day" />,
    },
  ];
}
