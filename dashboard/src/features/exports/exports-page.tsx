import { getRouteApi } from "@tanstack/react-router";
import { FileDown } from "lucide-react";
import { type ExportOrder, pathOfExport } from "../../api/export-stream.ts";
import { inEnvironment } from "../../format/environments.ts";
import { capitalize } from "../../format/terms.ts";
import { type Clock, nameOfClock } from "../../format/times.ts";
import { momentsOf, RANGE_OPTIONS, rangeOf } from "../../format/usage-range.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { CodeBlock, curlOf, Disclosure } from "../../ui/code-block.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { useClock } from "../../ui/time.tsx";
import { useTypedMoments } from "../../ui/usage/range-fields.tsx";
import { lastMonths, monthAfter, nameOfMonth, thisMonth } from "../months/queries.ts";
import { startExport } from "./export-jobs.ts";
import { ExportList } from "./export-list.tsx";
import { type ExportSearch, readExportSearch } from "./export-search.ts";

export function ExportsPage() {
  return (
    <Page title="Exports" heading="Usage" note="Download your data as CSV or NDJSON.">
      <SectionTabs section="Usage" />
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <ExportForm />
        <ExportList />
      </div>
    </Page>
  );
}

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/exports");

const KINDS = [
  { value: "events", name: "Events", note: "Usage events" },
  {
    value: "charges",
    name: "Charges",
    note: "Allowed requests with their cost and reversals",
  },
  { value: "ledger", name: "Ledger", note: "Every balance change" },
  { value: "grants", name: "Grants", note: "Added credits with expiry, reference and price" },
] as const;

function ExportForm() {
  const scope = useScope();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Partial<Record<keyof ExportSearch, unknown>>): void =>
    void navigate({
      search: (before) => readExportSearch({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    });
  const { kind = "events", format = "csv" } = search;
  const order: ExportOrder = { scope, kind, format, ...timesOf(search, useClock()) };
  const fileName = nameOf(order, search);
  return (
    <Card title="Create export" note="Includes all customers. Filters set on other pages do not apply.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          startExport(order, fileName);
        }}
      >
        <Choices
          label="Data"
          name="kind"
          choices={KINDS}
          chosen={kind}
          onChange={({ target }) => change({ kind: target.value })}
        />
        <ExportTime search={search} onChange={change} />
        <Select
          label="Format"
          value={format}
          options={[
            { value: "csv", label: "CSV, for spreadsheets" },
            { value: "ndjson", label: "NDJSON, for scripts and data tools" },
          ]}
          onChange={({ target }) => change({ format: target.value })}
        />
        <Button type="submit" tone="primary" icon={FileDown}>
          {inEnvironment(`Export ${kind === "ledger" ? "the ledger" : kind}`, scope.environment, "from")}
        </Button>
      </form>
      <div className="pt-4">
        <Disclosure title="API call">
          <CodeBlock
            label="the call"
            code={`${curlOf({ method: "GET", path: pathOfExport(order) })} \\\n  -f -o ${fileName}`}
          />
        </Disclosure>
      </div>
    </Card>
  );
}

/** Months are UTC. Named ranges use the selected time zone, as in charts. */
function timesOf(
  { month, range, from, to }: ExportSearch,
  clock: Clock,
): { from: string | null; to: string | null } {
  if (range !== undefined) return momentsOf(rangeOf({ range }, Date.now(), clock), Date.now());
  if (month === undefined) return { from: from ?? null, to: to ?? null };
  return { from: `${month}-01T00:00:00.000Z`, to: `${monthAfter(month, 1)}-01T00:00:00.000Z` };
}

function nameOf({ scope, kind, format, from, to }: ExportOrder, { month }: ExportSearch): string {
  const dayOf = (at: string): string => at.slice(0, 10);
  const time = month ?? (from === null || to === null ? "all" : `${dayOf(from)}-to-${dayOf(to)}`);
  return `${kind}-${scope.environment}-${time}.${format}`;
}

const OFFERED = 13;
const DAY_MS = 86_400_000;

/** Selects a named range, a month, a custom range or all history. */
function ExportTime({
  search: { month, range, from, to },
  onChange,
}: {
  search: ExportSearch;
  onChange: (change: Partial<Record<keyof ExportSearch, unknown>>) => void;
}) {
  const offered = lastMonths(OFFERED);
  const months = month === undefined || offered.includes(month) ? offered : [month, ...offered];
  return (
    <>
      <Select
        label="Time range"
        value={from === undefined ? (range ?? month ?? "") : "custom"}
        options={[
          { value: "", label: "All history" },
          ...RANGE_OPTIONS,
          ...months.map((value) => ({
            value,
            label: value === thisMonth() ? `${nameOfMonth(value)} to date` : nameOfMonth(value),
          })),
          { value: "custom", label: "Custom range" },
        ]}
        onChange={({ target: { value } }) =>
          onChange(
            value === "custom" ? lastDay() : { month: value, range: value, from: undefined, to: undefined },
          )
        }
      />
      {from !== undefined && to !== undefined && <Moments from={from} to={to} onChange={onChange} />}
    </>
  );
}

/** Keeps the typed text. Only a valid range is written to the URL and can be submitted. */
function Moments({
  from,
  to,
  onChange,
}: {
  from: string;
  to: string;
  onChange: (moments: { from: string; to: string }) => void;
}) {
  const { clock, typed, setTyped, read } = useTypedMoments({ from, to });
  const isReversed = typed.from !== "" && typed.to !== "" && typed.from >= typed.to;
  function type(change: Partial<typeof typed>): void {
    const next = { ...typed, ...change };
    setTyped(next);
    const moments = read(next);
    if (moments !== null) onChange(moments);
  }
  return (
    <div className="flex flex-col gap-4">
      <TextField
        type="datetime-local"
        label="From"
        hint={`${capitalize(nameOfClock(clock))}.`}
        required
        value={typed.from}
        onChange={({ target }) => type({ from: target.value })}
      />
      <TextField
        ref={(input) => input?.setCustomValidity(isReversed ? NOT_LATER : "")}
        type="datetime-local"
        label="To (exclusive)"
        hint={`${capitalize(nameOfClock(clock))}.`}
        error={isReversed ? NOT_LATER : undefined}
        required
        value={typed.to}
        onChange={({ target }) => type({ to: target.value })}
      />
    </div>
  );
}

const NOT_LATER = "Must be after the start.";

function lastDay() {
  const now = Date.now();
  const hour = now - (now % 3_600_000);
  return { from: new Date(hour - DAY_MS).toISOString(), to: new Date(hour).toISOString() };
}
