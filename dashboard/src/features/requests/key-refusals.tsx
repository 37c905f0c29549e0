import { Badge } from "../../ui/badge.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Card } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { type Compared, compareReuse } from "./compare-reuse.ts";
import type { KeyHistory } from "./queries.ts";

/** Rejected reuses of the key, compared with the original request. */
export function KeyRefusals({ history }: { history: KeyHistory }) {
  const refused = history.uses.filter((use) => use.refused !== null);
  return refused.map((use) => (
    <Card
      key={use.id}
      flush
      title="Rejected: key already used for another request"
      note={
        <>
          <Time at={use.recordedAt} as="exact" />, status 409. Nothing was charged or recorded.
        </>
      }
    >
      <SideBySide label={`Differences at ${use.recordedAt}`} lines={compareReuse(history, use)} />
    </Card>
  ));
}

function SideBySide({ label, lines }: { label: string; lines: readonly Compared[] }) {
  if (lines.length === 0) {
    return <p className="px-4 py-3 text-muted">The original request is outside your history window.</p>;
  }
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse">
      <thead>
        <tr className="border-b border-line text-left text-caption text-muted">
          <th scope="col" className="h-9 w-2/5 pr-1 pl-4 font-medium md:w-1/4">
            Field
          </th>
          <th scope="col" className="h-9 px-2 font-medium md:px-4">
            Original request
          </th>
          <th scope="col" className="h-9 px-2 font-medium md:px-4">
            Rejected request
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ field, first, refused, differs }) => (
          <tr
            key={field}
            className={classNames("border-b border-line last:border-b-0", differs && "bg-warn-soft")}
          >
            <th scope="row" className="h-10 py-1.5 pr-1 pl-4 text-left font-normal">
              <span className="flex flex-wrap items-center gap-x-2">
                <span className="min-w-0 font-mono text-caption wrap-anywhere">{field}</span>
                {differs && <Badge tone="warn">Differs</Badge>}
              </span>
            </th>
            <Value text={first} isStrong={false} />
            <Value text={refused} isStrong={differs} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ text, isStrong }: { text: string | null; isStrong: boolean }) {
  return (
    <td
      className={classNames(
        "px-2 py-1.5 wrap-anywhere md:px-4",
        text === null ? "text-muted" : "font-mono text-caption",
        isStrong && "font-semibold",
      )}
    >
      {text ?? "none"}
    </td>
  );
}
