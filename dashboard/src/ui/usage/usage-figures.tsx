import { nameOfBucket } from "../../words/bucket-words.ts";
import { countOf, formatCount } from "../../words/numbers.ts";
import { Figure } from "../figure.tsx";
import { LinkButton } from "../link-button.tsx";
import { useClock } from "../preferences.ts";
import type { UsageShown } from "./usage-series.ts";

/** The whole range in three numbers. */
export function UsageFigures({ shown, onNarrow }: { shown: UsageShown; onNarrow: (at: string) => void }) {
  const clock = useClock();
  const { asked, usage, rows } = shown;
  const busiest = rows.reduce<(typeof rows)[number] | null>(
    (most, row) => (row.total > (most?.total ?? 0) ? row : most),
    null,
  );
  // Hours and days that have not come are none in which nothing was used; an event may be minutes ahead.
  const within = rows.filter(
    ({ isBefore, at, total }) => !isBefore && (at <= usage.completeTo || total !== 0),
  ).length;
  const isUnderWay = asked.to === null || asked.to > Date.parse(usage.completeTo);
  const total = usage.total[asked.by];
  return (
    <div className="grid grid-cols-2 gap-3 *:first:max-sm:col-span-2 sm:grid-cols-3">
      <Figure name={asked.name} value={formatCount(total)} note={noteOf(shown)} />
      <Figure
        name={`On average in ${asked.bucket === "hour" ? "an hour" : `a ${asked.bucket}`}`}
        value={formatCount(within === 0 ? 0 : Math.round(total / within))}
        note={`Over ${countOf(within, asked.bucket)}${isUnderWay ? ", the present one included" : ""}`}
      />
      <Figure
        name={`Busiest ${asked.bucket}`}
        value={formatCount(busiest?.total ?? 0)}
        note={
          busiest === null ? (
            "Nothing yet"
          ) : (
            <LinkButton onClick={() => onNarrow(busiest.at)}>
              {nameOfBucket(busiest.at, asked.bucket, clock)}
            </LinkButton>
          )
        }
      />
    </div>
  );
}

function noteOf({ asked: { what }, usage: { total } }: UsageShown): string {
  if (what === "credits") return `Less what was reversed; ${countOf(total.count, "charge")}`;
  if (what === "charges") return `${formatCount(total.credits)} credits, less what was reversed`;
  if (what === "events") return `A quantity of ${formatCount(total.quantity)} in all`;
  if (what === "quantity") return `${formatCount(total.count)} events`;
  return "Of customers who have a plan; checks are not counted";
}
