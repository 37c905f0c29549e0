import { useSuspenseQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import type { Answer } from "../../api/answer.ts";
import { formatBytes } from "../../format/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { Time } from "../../ui/time.tsx";
import { healthQuery } from "../workspace/queries.ts";

const VERIFY = `DATABASE_URL='postgres://…' npx purser verify`;
const DOCTOR = `DATABASE_URL='postgres://…' npx purser doctor`;

export function HealthCard() {
  const { data: health, error, dataUpdatedAt, refetch, isFetching } = useSuspenseQuery(healthQuery);
  const { tone, title, why } = judge(health);
  return (
    <Card
      title="System health"
      note="Covers the database and the service process that responded."
      actions={
        <>
          <PageCode json={{ label: "the health data", value: health }} />
          <Button tone="quiet" icon={RotateCw} isBusy={isFetching} onClick={() => void refetch()}>
            Refresh
          </Button>
        </>
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
              The current state is unknown. The data below is from{" "}
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
            name="Verify the ledgers"
            note="Compares every ledger with wallets, grants and limits."
            code={VERIFY}
          />
          <Command
            name="Run diagnostics"
            note="Checks version, durability, migrations, clock, transactions and disk."
            code={DOCTOR}
          />
        </div>
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
        { name: "Database size", value: formatBytes(health.databaseBytes) },
        { name: "Database clock", value: <Time at={health.databaseClock} as="second" /> },
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

type Health = Answer<"readHealth"> & { readonly clockOffsetMs: number };

type Verdict = { readonly tone: "good" | "warn"; readonly title: string; readonly why: string };

/** A synchronized browser clock differs from the database clock by at most a few seconds. */
const CLOCK_OFFSET_MAX_MS = 30_000;

/** Overall state. The service responded, so only migrations and the clock can be wrong. */
function judge({ migrations, clockOffsetMs, databaseBytes, tables }: Health): Verdict {
  const missing = (["control", "cell"] as const).filter(
    (schema) => !migrations.some((migration) => migration.schema === schema),
  );
  if (missing.length > 0) {
    const why = `No migrations have been applied to the ${missing.join(" and ")} ${missing.length === 1 ? "schema" : "schemas"}. Run purser migrate.`;
    return { tone: "warn", title: "The database is not migrated", why };
  }
  if (Math.abs(clockOffsetMs) > CLOCK_OFFSET_MAX_MS) {
    const seconds = Math.round(Math.abs(clockOffsetMs) / 1_000).toLocaleString("en-US");
    const which = clockOffsetMs > 0 ? "ahead of" : "behind";
    const why = `It is ${seconds} seconds ${which} your browser. Renewals and expiry use the database clock.`;
    return { tone: "warn", title: "The database clock differs from yours", why };
  }
  const largest = tables[0];
  const share = largest === undefined || databaseBytes === 0 ? 0 : largest.bytes / databaseBytes;
  const most = share > 0.5 ? ` The table ${largest?.table} takes up most of the database.` : "";
  return {
    tone: "good",
    title: "Healthy",
    why: `The service and database respond, the schemas are migrated, and the database clock matches your browser.${most}`,
  };
}

const SHOWN = 6;

function TableSizes({ health: { tables, databaseBytes } }: { health: Health }) {
  return (
    <table className="w-full border-collapse">
      <caption className="pb-1 text-left text-caption text-muted">Largest tables, including indexes</caption>
      <tbody>
        {tables.slice(0, SHOWN).map(({ table, bytes }) => (
          <tr key={table}>
            <th scope="row" className="py-1 pr-4 text-left font-mono text-caption font-normal">
              {table}
            </th>
            <td className="w-full py-1 pr-4" aria-hidden>
              <div className="h-1.5 rounded-full bg-sunken">
                <div
                  className="h-full rounded-full bg-accent"
                  style={{ width: `${Math.max(1, (100 * bytes) / Math.max(databaseBytes, 1))}%` }}
                />
              </div>
            </td>
            <td className="py-1 text-right whitespace-nowrap">{formatBytes(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
