import { usePlace } from "../../frame/use-place.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Time } from "../../ui/time.tsx";
import { capitalize, costInWords } from "../../words/terms.ts";
import { PlanNames } from "./plan-names.tsx";
import type { Feature } from "./queries.ts";
import { useNames } from "./use-names.ts";

export function FeatureDetails({ feature }: { feature: Feature }) {
  const { cost, unit, pool: poolKey, usedBy, archivedAt } = feature;
  const pool = useNames(usePlace()).pool(poolKey);
  return (
    <>
      <Details
        items={[
          { name: "Cost", value: capitalize(costInWords(cost, unit)) },
          ...(pool === null ? [] : [{ name: "Pool", value: pool }]),
          { name: "Plans", value: usedBy.length === 0 ? "In no plan" : <PlanNames keys={usedBy} /> },
          ...(archivedAt === null ? [] : [{ name: "Archived", value: <Time at={archivedAt} /> }]),
        ]}
      />
      <Disclosure title="JSON">
        <CodeBlock label="the feature" code={JSON.stringify(feature, null, 2)} />
      </Disclosure>
    </>
  );
}
