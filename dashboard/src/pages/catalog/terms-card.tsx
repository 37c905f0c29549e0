import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { capitalize, costInWords, limitInWords } from "../../words/terms.ts";
import { AllowanceLines } from "./allowance-lines.tsx";
import { isSamePrice } from "./other-prices.ts";
import type { PinnedFeature } from "./plan-terms.ts";
import { featuresQuery, type PlanVersion } from "./queries.ts";
import { useNames } from "./use-names.ts";

const COLUMNS: readonly Column<PinnedFeature>[] = [
  { name: "Feature", cell: (terms) => <FeatureLink terms={terms} /> },
  { name: "Cost", cell: (terms) => <PinnedCost terms={terms} /> },
  { name: "Limit", isWide: true, hidesWhenNarrow: true, cell: (terms) => <LimitCell terms={terms} /> },
];

/** The newest version, as who gets it would want to hear it. */
export function TermsCard({ version }: { version: PlanVersion }) {
  const { number, allowances, features } = version;
  const isForNew = number > 1 && version.reach === "new_assignments";
  return (
    <Card
      title="What customers get"
      note={`By version ${number}, the newest.${isForNew ? " Who had the plan before it keeps an older one." : ""}`}
      flush
    >
      <div className="border-b border-line px-4 py-3">
        <AllowanceLines allowances={allowances} />
      </div>
      {features.length === 0 ? (
        <p className="px-4 py-3 text-muted">It includes no feature: whoever is on it may do nothing.</p>
      ) : (
        <Table
          label="Features of the plan"
          columns={COLUMNS}
          rows={features}
          keyOf={({ feature }) => feature}
        />
      )}
    </Card>
  );
}

function FeatureLink({ terms: { feature: key } }: { terms: PinnedFeature }) {
  const place = usePlace();
  return (
    <div className="max-w-80 min-w-32 wrap-anywhere whitespace-normal">
      <TextLink to="/projects/$projectId/$environment/features" params={place} search={{ key }}>
        {useNames(place).feature(key).name}
      </TextLink>
    </div>
  );
}

/** Where the feature costs something else by now, both are said. */
function PinnedCost({ terms }: { terms: PinnedFeature }) {
  const place = usePlace();
  const names = useNames(place);
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const now = features.find(({ key }) => key === terms.feature);
  const pool = names.pool(terms.pool);
  const unit = now?.unit ?? null;
  return (
    <div>
      {capitalize(costInWords(terms.cost, unit))}
      {pool !== null && terms.cost.credits > 0 && <span className="text-muted"> from {pool}</span>}
      {terms.limit !== null && (
        <div className="text-caption text-muted md:hidden">{capitalize(limitInWords(terms.limit, unit))}</div>
      )}
      {now !== undefined && !isSamePrice(terms, now) && (
        <div className="text-caption text-warn">Next version: {costInWords(now.cost, unit)}</div>
      )}
    </div>
  );
}

function LimitCell({ terms: { feature, limit } }: { terms: PinnedFeature }) {
  const { unit } = useNames(usePlace()).feature(feature);
  if (limit === null) return <span className="text-muted">No limit</span>;
  return capitalize(limitInWords(limit, unit));
}
