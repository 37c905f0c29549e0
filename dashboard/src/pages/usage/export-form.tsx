import { getRouteApi } from "@tanstack/react-router";
import { FileDown } from "lucide-react";
import { type ExportOrder, pathOfExport } from "../../api/export-stream.ts";
import { usePlace } from "../../frame/use-place.ts";
import { curlOf } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Choices } from "../../ui/choices.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Select } from "../../ui/field.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { startExport } from "./export-jobs.ts";
import { type ExportSearch, readExportSearch } from "./export-search.ts";
import { ExportTime } from "./export-time.tsx";
import { monthAfter } from "./month-search.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/exports");

const KINDS = [
  { value: "events", name: "Events", note: "Meter readings, by their own time" },
  {
    value: "charges",
    name: "Charges",
    note: "What was allowed and cost credits, with what was reversed of it",
  },
  { value: "ledger", name: "Ledger", note: "Every change of every balance: amounts sum to balances" },
  { value: "grants", name: "Grants", note: "Credits that were given, with expiry, reference and price" },
] as const;

export function ExportForm() {
  const place = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Partial<Record<keyof ExportSearch, unknown>>): void =>
    void navigate({
      search: (before) => readExportSearch({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    });
  const { kind = "events", format = "csv" } = search;
  const order: ExportOrder = { place, kind, format, ...momentsOf(search) };
  const fileName = nameOf(order, search);
  return (
    <Card title="New export" note="Of all customers and keys, whatever another page was filtered by.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          startExport(order, fileName);
        }}
      >
        <Choices
          label="What"
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
            { value: "ndjson", label: "NDJSON, for programs" },
          ]}
          onChange={({ target }) => change({ format: target.value })}
        />
        <Button type="submit" tone="primary" icon={FileDown}>
          {inEnvironment(`Export ${kind === "ledger" ? "the ledger" : kind}`, place.environment)}
        </Button>
      </form>
      <div className="pt-4">
        <Disclosure title="Do this by API">
          <CodeBlock
            label="the call"
            code={`${curlOf({ method: "GET", path: pathOfExport(order) })} \\\n  -f -o ${fileName}`}
          />
        </Disclosure>
      </div>
    </Card>
  );
}

/** Months are those of UTC, as everywhere in the books. */
function momentsOf({ month, from, to }: ExportSearch): { from: string | null; to: string | null } {
  if (month === undefined) return { from: from ?? null, to: to ?? null };
  return { from: `${month}-01T00:00:00.000Z`, to: `${monthAfter(month, 1)}-01T00:00:00.000Z` };
}

function nameOf({ place, kind, format, from, to }: ExportOrder, { month }: ExportSearch): string {
  const dayOf = (at: string): string => at.slice(0, 10);
  const time = month ?? (from === null || to === null ? "all" : `${dayOf(from)}-to-${dayOf(to)}`);
  return `${kind}-${place.environment}-${time}.${format}`;
}
