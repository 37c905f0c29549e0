import type { ReactNode } from "react";
import { formatCount } from "../../format/numbers.ts";
import { formatTime } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CopyButton, Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { Sentence } from "./audit-columns.tsx";
import type { AuditFilters } from "./audit-filters.ts";
import { type Change, changesOf, type Entry, isBulkAction, isRecord, textIn } from "./entry.ts";
import { UndoButton } from "./undo-button.tsx";

/** Details of an entry: before and after, and the request ID. */
export function EntryDetails({ entry }: { entry: Entry }) {
  const { actor, action, requestId, recordedAt, customerId, customerName } = entry;
  const actorFilter =
    actor.kind === "command" || actor.kind === "system" ? actor.kind : `${actor.kind}:${actor.id}`;
  return (
    <div className="flex flex-col gap-4">
      <ChangeTable entry={entry} />
      <div className="md:hidden">
        <UndoButton entry={entry} sentence={<Sentence entry={entry} />} />
      </div>
      <Details
        items={[
          { name: "Action", value: <code className="font-mono">{action}</code> },
          { name: "Time", value: formatTime(recordedAt, useClock(), true) },
          {
            name: "Request",
            value:
              requestId === null ? (
                <span className="text-muted">None (not an API call)</span>
              ) : (
                <Copyable text={requestId} label="Copy request ID" />
              ),
          },
          {
            name: "Related entries",
            value: (
              <span className="flex flex-wrap gap-x-4">
                <TextLink to="/workspace/audit" search={{ actor: actorFilter }}>
                  All entries by this actor
                </TextLink>
                {isBulkAction(action) && (
                  <TextLink
                    to="/workspace/audit"
                    search={{ actor: actorFilter, ...daysOf(entry), each: true }}
                  >
                    Entries for each customer
                  </TextLink>
                )}
                {customerId !== null && (
                  <TextLink to="/workspace/audit" search={{ customerId }}>
                    All entries for {customerName ?? customerId}
                  </TextLink>
                )}
              </span>
            ),
          },
        ]}
      />
      <Json label="the entry" value={entry} />
    </div>
  );
}

/** The environment and the UTC days of a bulk change. The summary entry is recorded when the change ends. */
function daysOf({ projectId, environment, recordedAt, after }: Entry): AuditFilters {
  return {
    ...(projectId === null || environment === null ? {} : { projectId: Number(projectId), environment }),
    from: (textIn(after, "startedAt") ?? recordedAt).slice(0, 10),
    to: recordedAt.slice(0, 10),
  };
}

function Copyable({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <code className="font-mono wrap-anywhere">{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

/** Before and after side by side. A creation has no values before, a deletion has none after. */
function ChangeTable({ entry }: { entry: Entry }) {
  const changes = changesOf(entry);
  if (changes.length === 0) return <p className="text-muted">No further details.</p>;
  const sides = (["before", "after"] as const).filter((side) => entry[side] !== null);
  const isCompared = sides.length === 2;
  return (
    <table aria-label="Before and after" className="w-full border-collapse">
      <thead>
        <tr className="border-b border-line text-left text-caption text-muted">
          <th scope="col" className="py-1 pr-4 font-medium">
            Field
          </th>
          {sides.map((side) => (
            <th key={side} scope="col" className="w-2/5 py-1 pr-4 font-medium">
              {side === "before" ? "Before" : "After"}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.field} className="border-b border-line align-top last:border-b-0">
            <th scope="row" className="py-1.5 pr-4 text-left font-normal wrap-anywhere">
              <span className={classNames(isCompared && change.kind === "changed" && "font-medium")}>
                {change.field}
              </span>{" "}
              {isCompared && change.kind !== "same" && (
                <Badge tone={change.kind === "changed" ? "accent" : "plain"}>{change.kind}</Badge>
              )}
            </th>
            {sides.map((side) => (
              <td key={side} className="py-1.5 pr-4 wrap-anywhere">
                <Side change={change} side={side} isCompared={isCompared} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side({
  change,
  side,
  isCompared,
}: {
  change: Change;
  side: "before" | "after";
  isCompared: boolean;
}) {
  const shown = <Value value={change[side]} />;
  if (!isCompared || change[side] === undefined) return shown;
  if (change.kind === "same") return <span className="text-muted">{shown}</span>;
  return (
    <span
      className={classNames(
        "box-decoration-clone rounded px-1 py-0.5",
        side === "before" ? "bg-bad-soft" : "bg-good-soft",
      )}
    >
      {shown}
    </span>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span className="sr-only">not set</span>;
  if (value === null) return <span className="text-muted">none</span>;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return formatCount(value);
  if (typeof value === "string") return MOMENT.test(value) ? <Time at={value} /> : value;
  if (Array.isArray(value) && !value.some((item) => isRecord(item))) {
    return value.length === 0 ? <span className="text-muted">none</span> : value.join(", ");
  }
  return <code className="font-mono text-caption">{JSON.stringify(value)}</code>;
}
