import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { countUses } from "../../words/key-words.ts";
import { Outcome } from "./outcome.tsx";
import type { KeyStory } from "./queries.ts";

type Use = KeyStory["uses"][number];

const USES_MAX = 50;

const COLUMNS: readonly Column<Use>[] = [
  { name: "Time", cell: ({ recordedAt }) => <Time at={recordedAt} as="second" /> },
  { name: "Outcome", isWide: true, cell: (use) => <Outcome request={use} /> },
  { name: "Called", hidesWhenNarrow: true, cell: ({ endpoint }) => endpoint },
  {
    name: "Request id",
    hidesWhenNarrow: true,
    cell: ({ requestId }) => <span className="font-mono text-caption">{requestId}</span>,
  },
  {
    name: "Took",
    isNumber: true,
    hidesWhenNarrow: true,
    cell: ({ durationMs }) => `${durationMs.toLocaleString("en-US")} ms`,
  },
];

/** Each time that somebody sent the key. */
export function KeyUses({ uses }: { uses: readonly Use[] }) {
  if (uses.length === 0) {
    return (
      <Card title="Uses in the last 7 days">
        <p className="text-muted">The log forgets after 7 days, and has none of this key.</p>
      </Card>
    );
  }
  return (
    <Card
      flush
      title="Uses in the last 7 days"
      note={`${uses.length === USES_MAX ? `The newest ${USES_MAX}: ` : ""}${countUses(uses)}.`}
    >
      <Table label="Uses" columns={COLUMNS} rows={uses} keyOf={({ id }) => id} />
    </Card>
  );
}
