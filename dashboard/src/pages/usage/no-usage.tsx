import { ChartColumn, FilterX } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { inEnvironment } from "../../words/environments.ts";
import type { UsageAsked } from "../../words/usage-search.ts";

const TITLES = {
  charges: "Nothing was charged in this time",
  events: "No usage events in this time",
  denials: "Nobody was denied in this time",
} as const;

const WHY = {
  charges: "Charges are counted here seconds after your backend's consume is answered.",
  events: "Events are counted here by their own time, seconds after they are recorded.",
  denials: "Which is mostly good news. Denials are counted here by their reason.",
} as const;

export function NoUsage({ asked: { source, filters }, onClear }: { asked: UsageAsked; onClear: () => void }) {
  const place = usePlace();
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyState
        icon={FilterX}
        title={TITLES[source]}
        action={<Button onClick={onClear}>Clear the filters</Button>}
      >
        At least nothing that the filters let through. A longer range may have some.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={ChartColumn}
      title={TITLES[source]}
      action={
        source !== "denials" && (
          <ButtonLink to="/projects/$projectId/$environment/first-event" params={place}>
            {inEnvironment("Send something", place.environment)}
          </ButtonLink>
        )
      }
    >
      {WHY[source]}
    </EmptyState>
  );
}
