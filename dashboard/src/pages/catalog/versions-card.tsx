import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { sentencesOf } from "./plan-sentences.ts";
import { diffTerms } from "./plan-terms.ts";
import type { PlanVersion } from "./queries.ts";
import { REACH_NAMES } from "./reaches.ts";
import { SentenceList } from "./sentence-list.tsx";
import { useNames } from "./use-names.ts";

type Line = { readonly version: PlanVersion; readonly before: PlanVersion | null };

const COLUMNS: readonly Column<Line>[] = [
  { name: "Version", cell: ({ version }) => version.number },
  { name: "Published", cell: ({ version }) => <Time at={version.publishedAt} as="day" /> },
  { name: "Who gets it", hidesWhenNarrow: true, cell: ({ version }) => REACH_NAMES[version.reach] },
  { name: "What changed", isWide: true, cell: (line) => <Changes line={line} /> },
];

/** The newest first. Of those that are there, the last only says what the one after it changed, if there are more. */
export function VersionsCard({ versions, hasMore }: { versions: readonly PlanVersion[]; hasMore: boolean }) {
  const all = versions.map((version, index) => ({ version, before: versions[index + 1] ?? null }));
  const lines = hasMore ? all.slice(0, -1) : all;
  const note = hasMore ? ` The latest ${lines.length} are shown.` : "";
  return (
    <Card title="Versions" note={`Once published, a version never changes.${note}`} flush>
      <Table label="Versions" columns={COLUMNS} rows={lines} keyOf={({ version }) => version.number} />
    </Card>
  );
}

function Changes({ line: { version, before } }: { line: Line }) {
  const names = useNames(usePlace());
  if (before === null) return <span className="text-muted">The first version</span>;
  const sentences = sentencesOf(diffTerms(before, version), names);
  if (sentences.length === 0) return <span className="text-muted">The same terms</span>;
  return <SentenceList label={`Changes of version ${version.number}`} sentences={sentences} />;
}
