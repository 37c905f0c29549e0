import { Callout } from "../../ui/callout.tsx";
import { PlanNames } from "./plan-names.tsx";
import type { Feature } from "./queries.ts";

/** What another cost does, before it is saved: less than one might fear, and less than one might hope. */
export function CostChange({ feature: { usedBy } }: { feature: Feature }) {
  if (usedBy.length === 0)
    return (
      <Callout title="Nobody pays this yet">
        No plan includes the feature. The first one that does charges what it costs when that plan is
        published.
      </Callout>
    );
  return (
    <Callout tone="warn" title="Nobody is charged this yet">
      <PlanNames keys={usedBy} /> {usedBy.length === 1 ? "has" : "have"} pinned what the feature cost when{" "}
      {usedBy.length === 1 ? "it was" : "they were"} published. The new cost takes effect with the next
      version of a plan that you publish.
    </Callout>
  );
}
