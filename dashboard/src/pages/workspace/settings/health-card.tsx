import { useSuspenseQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Callout } from "../../../ui/callout.tsx";
import { Card } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Details } from "../../../ui/details.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { Time } from "../../../ui/time.tsx";
import { formatBytes } from "../../../words/numbers.ts";
import { healthQuery } from "../queries.ts";
import { type Health, judge } from "./health.ts";
import { TableSizes } from "./table-sizes.tsx";

const VERIFY = `DATABASE_URL='postgres://…' npx purser verify`;
const DOCTOR = `DATABASE_URL='postgres://…' npx purser doctor`;

export function HealthCard() {
  const { data: health, error, dataUpdatedAt, refetch, isFetching } = useSuspenseQuery(healthQuery);
  const { tone, title, why } = judge(health);
  return (
    <Card
      title="System health"
      note="Of the whole installation, and of the process that answered."
      actions={
        <Button tone="quiet" icon={RotateCw} isBusy={isFetching} onClick={() => void refetch()}>
          Look again
        </Button>
      }
    >
      <div className="flex flex-col gap-5">
        {error === null ? (
          <Callout tone={tone} title={title}>
            {why}
          </Callout>
        ) : (
          <>
            <ProblemCallout error={error} />
            <p>
              How it is now is not known. What stands below is from{" "}
              <Time at={new Date(dataUpdatedAt).toISOString()} as="second" />.
            </p>
          </>
        )}
        <div className="grid items-start gap-x-8 gap-y-5 lg:grid-cols-2">
          <Facts health={health} />
          <TableSizes health={health} />
        </div>
        <div className="grid items-start gap-x-8 gap-y-5 lg:grid-cols-2">
          <Command
            name="Prove the ledgers"
            note="Folds every ledger and compares wallets, grants and limits with it, while the service runs. One customer's proof stands on their page."
            code={VERIFY}
          />
          <Command
            name="Look for what would hurt"
            note="Version, durability, migrations, clock, long transactions and disk, as the server itself sees them."
            code={DOCTOR}
          />
        </div>
        <Disclosure title="JSON">
          <CodeBlock label="the health" code={JSON.stringify(health, null, 2)} />
        </Disclosure>
      </div>
    </Card>
  );
}

function Facts({ health }: { health: Health }) {
  return (
    <Details
      items={[
        { name: "Purser", value: health.version },
        { name: "Running since", value: <Time at={health.startedAt} /> },
        { name: "Node.js", value: health.nodeVersion },
        { name: "PostgreSQL", value: health.postgresVersion },
        { name: "Database", value: formatBytes(health.databaseBytes) },
        { name: "Its clock", value: <Time at={health.databaseClock} as="second" /> },
        ...(health.untrustedProxy === null
          ? []
          : [{ name: `Proxy ${health.untrustedProxy.address}`, value: health.untrustedProxy.advice }]),
        ...health.migrations.map(({ schema, number, appliedAt }) => ({
          name: `Schema ${schema}`,
          value: (
            <>
              Migration {number}, <Time at={appliedAt} as="day" />
            </>
          ),
        })),
      ]}
    />
  );
}

function Command({ name, note, code }: { name: string; note: string; code: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <h3 className="text-form font-medium">{name}</h3>
      <p className="text-caption text-muted">{note}</p>
      <CodeBlock label={name.toLowerCase()} code={code} />
    </div>
  );
}
