import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Time } from "../../ui/time.tsx";
import { type Compared, compareReuse } from "./compare-reuse.ts";
import type { KeyStory } from "./queries.ts";

/** Reuses that were refused, each beside the request that has the key. */
export function KeyRefusals({ story }: { story: KeyStory }) {
  const refused = story.uses.filter((use) => use.refused !== null);
  return refused.map((use) => (
    <Card
      key={use.id}
      flush
      title="Refused: the key was used for another request"
      note={
        <>
          <Time at={use.recordedAt} as="exact" />, answered with 409. Nothing was charged or recorded.
        </>
      }
    >
      <SideBySide label={`What differed at ${use.recordedAt}`} lines={compareReuse(story, use)} />
    </Card>
  ));
}

/** Two columns of the same width: what differs is seen across. */
function SideBySide({ label, lines }: { label: string; lines: readonly Compared[] }) {
  if (lines.length === 0) {
    return (
      <p className="px-4 py-3 text-muted">What the key was used for lies before the history that is shown.</p>
    );
  }
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse">
      <thead>
        <tr className="border-b border-line text-left text-caption text-muted">
          <th scope="col" className="h-9 w-1/4 px-4 font-medium">
            Field
          </th>
          <th scope="col" className="h-9 px-4 font-medium">
            The key was used for
          </th>
          <th scope="col" className="h-9 px-4 font-medium">
            Refused
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ field, first, refused, differs }) => (
          <tr
            key={field}
            className={classNames("border-b border-line last:border-b-0", differs && "bg-warn-soft")}
          >
            <th scope="row" className="h-10 px-4 py-1.5 text-left font-normal">
              <span className="flex flex-wrap items-center gap-x-2">
                <span className="font-mono text-caption">{field}</span>
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
        "px-4 py-1.5 wrap-anywhere",
        text === null ? "text-muted" : "font-mono text-caption",
        isStrong && "font-semibold",
      )}
    >
      {text ?? "none"}
    </td>
  );
}
