import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Time } from "../../ui/time.tsx";
import { BalanceCard } from "./balance-card.tsx";
import { balanceHistory } from "./balance-history.ts";
import { knownGrantsQuery } from "./ledger-queries.ts";
import { OpenGrantsCard } from "./open-grants-card.tsx";
import { latestEntriesQuery } from "./overview-queries.ts";
import { PlanCard } from "./plan-card.tsx";
import { ProofLine } from "./proof-line.tsx";
import { type Customer, customerQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

export function OverviewTab() {
  const place = usePlace();
  const { customerId } = route.useParams();
  const { data: customer } = useSuspenseQuery(customerQuery(place, customerId));
  const { data: ledger, dataUpdatedAt } = useSuspenseQuery(latestEntriesQuery(place, customerId));
  const { data: known } = useSuspenseQuery(knownGrantsQuery({ ...place, customerId }));
  const { grants } = known;
  const balances = customer.balances.length === 0 ? [{ pool: "credits", balance: 0 }] : customer.balances;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[2fr_1fr]">
      <div className="flex min-w-0 flex-col gap-6">
        {balances.map(({ pool, balance }, index) => (
          <BalanceCard
            key={pool}
            title={balances.length === 1 ? "Balance over time" : `Balance of ${pool} over time`}
            proof={index === 0 ? <ProofLine customerId={customerId} /> : undefined}
            points={balanceHistory({ entries: ledger.items, grants, pool }, { at: dataUpdatedAt, balance })}
            hasEarlier={
              ledger.nextCursor !== null || ledger.broughtForward.some((brought) => brought.pool === pool)
            }
          />
        ))}
        <OpenGrantsCard customer={customer} known={known} />
      </div>
      <div className="flex min-w-0 flex-col gap-6">
        <PlanCard plan={customer.plan} grants={grants} />
        <About customer={customer} />
      </div>
    </div>
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
            { name: "Known since", value: <Time at={createdAt} /> },
            ...Object.entries(metadata ?? {}).map(([name, value]) => ({
              name,
              value: typeof value === "string" ? value : JSON.stringify(value),
            })),
          ]}
        />
        <Disclosure title="JSON">
          <CodeBlock label="the customer as JSON" code={JSON.stringify(customer, null, 2)} />
        </Disclosure>
      </div>
    </Card>
  );
}
