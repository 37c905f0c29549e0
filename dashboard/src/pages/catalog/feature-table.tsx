import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { capitalize, costInWords, joinWords } from "../../words/terms.ts";
import { findOtherPrices } from "./other-prices.ts";
import { type Feature, plansQuery, poolsQuery } from "./queries.ts";

const COLUMNS: readonly Column<Feature>[] = [
  { name: "Feature", cell: (feature) => <Name feature={feature} /> },
  { name: "Cost", cell: ({ cost, unit }) => capitalize(costInWords(cost, unit)) },
  {
    name: "Unit",
    hidesWhenNarrow: true,
    cell: ({ unit }) => unit ?? <span className="text-muted">None</span>,
  },
  { name: "Plans", isWide: true, hidesWhenNarrow: true, cell: (feature) => <UsedBy feature={feature} /> },
];

const POOL: Column<Feature> = {
  name: "Pool",
  hidesWhenNarrow: true,
  cell: ({ pool }) => <PoolName poolKey={pool} />,
};

export function FeatureTable({ features }: { features: readonly Feature[] }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  const [name, cost, unit, plans] = COLUMNS;
  // With one pool, which it is goes without saying.
  const columns = pools.length > 1 ? [name, cost, unit, POOL, plans] : COLUMNS;
  return (
    <Table
      label="Features"
      columns={columns.flatMap((column) => column ?? [])}
      rows={features}
      keyOf={({ key }) => key}
    />
  );
}

function Name({ feature: { key, name, archivedAt } }: { feature: Feature }) {
  return (
    <div className="max-w-80 min-w-32 wrap-anywhere whitespace-normal">
      <span className="flex flex-wrap items-center gap-x-2">
        <TextLink
          from="/projects/$projectId/$environment/features"
          to="."
          search={(before) => ({ ...before, key })}
          resetScroll={false}
        >
          {name}
        </TextLink>
        {archivedAt !== null && <Badge>Archived</Badge>}
      </span>
      <div className="font-mono text-caption text-muted">{key}</div>
    </div>
  );
}

function PoolName({ poolKey }: { poolKey: string }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  return pools.find(({ key }) => key === poolKey)?.name ?? poolKey;
}

/** Plans pin what they charge: where that is another cost by now, it is said. */
function UsedBy({ feature }: { feature: Feature }) {
  const place = usePlace();
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  if (feature.usedBy.length === 0) return <span className="text-muted">In no plan</span>;
  return (
    <div className="flex flex-col gap-0.5">
      <span className="flex flex-wrap gap-x-3">
        {feature.usedBy.map((key) => (
          <TextLink key={key} to="/projects/$projectId/$environment/plans/$key" params={{ ...place, key }}>
            {plans.find((plan) => plan.key === key)?.name ?? key}
          </TextLink>
        ))}
      </span>
      {findOtherPrices(feature, plans).map(({ plans: names, cost }) => (
        <span key={names.join()} className="text-caption text-warn">
          {joinWords(names)} still {names.length === 1 ? "charges" : "charge"}{" "}
          {costInWords(cost, feature.unit)}
        </span>
      ))}
    </div>
  );
}
