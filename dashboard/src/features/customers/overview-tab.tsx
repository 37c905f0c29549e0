import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CircleAlert, ShieldCheck } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { countOf, formatChange, formatCount } from "../../format/numbers.ts";
import { formatTime } from "../../format/times.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Disclosure } from "../../ui/code-block.tsx";
import { lazyChart } from "../../ui/lazy.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { AlertsCard } from "../alerts/alerts-card.tsx";
import { grantOfEntry } from "../credits/grants.ts";
import { findDuplicates } from "../ledger/ledger-duplicates.ts";
import { type Entry, type Grant, knownGrantsQuery } from "../ledger/queries.ts";
import { OverridesCard } from "../overrides/overrides-card.tsx";
import { type BalancePoint, balanceHistory } from "./balance-history.ts";
import { CustomerStanding } from "./customer-standing.tsx";
import { OpenGrantsCard, PlanCard } from "./overview-cards.tsx";
import {
  type Customer,
  type CustomerScope,
  customerQuery,
  customerScopeOf,
  latestEntriesQuery,
  proofQuery,
} from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

export function OverviewTab() {
  const customerScope = customerScopeOf(route.useParams());
  const { data: customer } = useSuspenseQuery(customerQuery(customerScope));
  const { data: ledger, dataUpdatedAt } = useSuspenseQuery(latestEntriesQuery(customerScope));
  const { data: known } = useSuspenseQuery(knownGrantsQuery(customerScope));
  const { grants } = known;
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const nameOf = (pool: string): string => pools.find(({ key }) => key === pool)?.name ?? pool;
  const balances =
    customer.balances.length === 0 ? [{ pool: "credits", balance: 0, held: 0 }] : customer.balances;
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[2fr_1fr]">
      <div className="xl:col-span-2">
        <CustomerStanding customer={customer} />
      </div>
      <div className="flex min-w-0 flex-col gap-6">
        <PossibleDuplicates entries={ledger.items} grants={grants} now={dataUpdatedAt} />
        {balances.map(({ pool, balance, held }, index) => (
          <BalanceCard
            key={pool}
            title={balances.length === 1 ? "Balance over time" : `Balance over time (${nameOf(pool)})`}
            proof={index === 0 ? <ProofLine customerScope={customerScope} /> : undefined}
            // Includes held credits, because the ledger changes only when the hold ends.
            points={balanceHistory(
              { entries: ledger.items, grants, pool },
              { at: dataUpdatedAt, balance: balance + held },
            )}
            hasEarlier={
              ledger.nextCursor !== null || ledger.broughtForward.some((brought) => brought.pool === pool)
            }
          />
        ))}
        <OpenGrantsCard customer={customer} known={known} />
      </div>
      <div className="flex min-w-0 flex-col gap-6">
        <PlanCard customer={customer} grants={grants} />
        <OverridesCard customer={customer} grants={grants} />
        <AlertsCard customer={customer} />
        <About customer={customer} />
      </div>
    </div>
  );
}

const DUPLICATE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Points to possible duplicate charges or top-ups in the last 30 days. The ledger marks these entries. */
function PossibleDuplicates({
  entries,
  grants,
  now,
}: {
  entries: readonly Entry[];
  grants: readonly Grant[];
  now: number;
}) {
  const customerScope = customerScopeOf(route.useParams());
  const recent = entries.filter(({ recordedAt }) => now - Date.parse(recordedAt) < DUPLICATE_DAYS * DAY_MS);
  const lines = recent.map((entry) => ({ entry, by: null, movedGrant: null }));
  const duplicates = findDuplicates(lines, (entry) => grantOfEntry(entry, grants));
  const latest = recent.find(({ sequence }) => duplicates.has(sequence));
  if (latest === undefined) return null;
  const isCharge = latest.kind === "consume";
  return (
    <Callout tone="warn" title={isCharge ? "Possible double charge" : "Possible double top-up"}>
      {countOf(
        duplicates.size,
        "entry looks like a repeat of an earlier entry",
        "entries look like repeats of earlier entries",
      )}
      . Most recent: <Time at={latest.recordedAt} />.{" "}
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/ledger"
        params={customerScope}
        hash={`entry-${latest.sequence}`}
      >
        Open ledger
      </TextLink>
    </Callout>
  );
}

function About({ customer }: { customer: Customer }) {
  const { email, billingReference, createdAt, metadata } = customer;
  return (
    <Card title="About">
      <div className="flex flex-col gap-4">
        <Details
          items={[
            { name: "Email", value: email ?? "None" },
            { name: "Billing reference", value: billingReference ?? "None" },
            { name: "Created", value: <Time at={createdAt} /> },
            ...Object.entries(metadata ?? {}).map(([name, value]) => ({
              name,
              value: typeof value === "string" ? value : JSON.stringify(value),
            })),
          ]}
        />
      </div>
    </Card>
  );
}

const BalanceChart = lazyChart(async () => (await import("./balance-chart.tsx")).BalanceChart);

const COLUMNS: readonly Column<BalancePoint>[] = [
  { name: "Time", cell: ({ at }) => <Time at={new Date(at).toISOString()} /> },
  { name: "Entry", isWide: true, cell: ({ entry }) => entry?.what },
  { name: "Change", isNumber: true, cell: ({ entry }) => formatChange(entry?.amount ?? 0) },
  { name: "Balance", isNumber: true, cell: ({ balance }) => formatCount(balance) },
];

function BalanceCard({
  title,
  proof,
  points,
  hasEarlier,
}: {
  title: string;
  proof: ReactNode;
  points: readonly BalancePoint[];
  /** Whether older entries exist. */
  hasEarlier: boolean;
}) {
  const changes = points.filter(({ entry }) => entry !== null);
  return (
    <Card title={title} note={proof} actions={<Legend points={points} />}>
      {changes.length === 0 ? (
        <p className="py-6 text-center text-muted">
          {hasEarlier
            ? "No recent balance changes."
            : "No balance changes yet. Assign a plan or add credits."}
        </p>
      ) : (
        <div className="flex flex-col gap-3">
          <div className="h-56">
            <Suspense>
              <BalanceChart points={points} />
            </Suspense>
          </div>
          <Disclosure
            title={
              changes.length === 1
                ? "Latest change as a table"
                : `Latest ${changes.length} changes as a table`
            }
          >
            <div className="max-h-96 overflow-y-auto rounded-md border border-line">
              <Table
                label={`${title}, as a table`}
                columns={COLUMNS}
                rows={changes.toReversed()}
                keyOf={({ entry }) => entry?.sequence ?? 0}
              />
            </div>
          </Disclosure>
        </div>
      )}
    </Card>
  );
}

function Legend({ points }: { points: readonly BalancePoint[] }) {
  if (!points.some(({ isTopUp }) => isTopUp)) return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-caption text-muted">
      <span aria-hidden className="size-2 rounded-full bg-good" />
      Top-up
    </span>
  );
}

/** Checks that the ledger entries add up to the balance, without blocking the page. */
function ProofLine({ customerScope }: { customerScope: CustomerScope }) {
  const clock = useClock();
  const nameOf = usePoolNames();
  const { data: proof, error, isFetching, refetch } = useQuery(proofQuery(customerScope));
  const why = error instanceof Error ? error.message : "";
  if (proof === undefined) {
    return error === null ? "Checking the ledger…" : `The ledger check failed: ${why}`;
  }
  const at = formatTime(proof.checkedAt, clock);
  const again = (
    <button
      type="button"
      className="rounded underline decoration-line-strong underline-offset-2 hover:text-ink"
      aria-busy={isFetching}
      onClick={() => void refetch()}
    >
      Check again
    </button>
  );
  if (error !== null) {
    return (
      <span role="alert" className="text-bad">
        <CircleAlert className="mr-1 inline size-3.5 align-text-bottom" aria-hidden />
        The ledger check failed: {why} {again}
      </span>
    );
  }
  if (!proof.isSound) {
    return (
      <span role="alert" className="text-bad">
        <CircleAlert className="mr-1 inline size-3.5 align-text-bottom" aria-hidden />
        The ledger does not match the balance (checked {at}).{" "}
        {proof.pools
          .map(
            ({ pool, ledgerSum, balance, grantsLeft }) =>
              `Pool ${nameOf(pool)}: the entries sum to ${formatCount(ledgerSum)}, the last entry's balance is ${formatCount(balance)}, and ${grantsLeft === null ? "the grants cannot be read" : `${countOf(grantsLeft, "credit")} ${grantsLeft === 1 ? "is" : "are"} left in the grants`}`,
          )
          .join("; ")}
        . Run purser verify. {again}
      </span>
    );
  }
  return (
    <span>
      <ShieldCheck className="mr-1 inline size-3.5 align-text-bottom text-good" aria-hidden />
      The ledger matches the balance. Checked {at} ({countOf(proof.entries, "entry", "entries")}). {again}
    </span>
  );
}
