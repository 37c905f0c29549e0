import { FilterX, Gauge } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { inEnvironment } from "../../words/environments.ts";

export function NoEvents({
  isFiltered,
  hasEarlier,
}: {
  isFiltered: boolean;
  /** Whether there may be some that are not shown. */
  hasEarlier: boolean;
}) {
  const place = usePlace();
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No event like this"
        action={
          <ButtonLink to="/projects/$projectId/$environment/usage/events" params={place} search={{}}>
            Clear the filters
          </ButtonLink>
        }
      >
        Customers, event keys and metadata are found by the whole text. Metadata is looked for at its top, as
        field=value.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Gauge}
      title={hasEarlier ? "No usage events in the time that is shown" : "No usage events yet"}
      action={
        <ButtonLink to="/projects/$projectId/$environment/first-event" params={place}>
          {inEnvironment("Send one", place.environment)}
        </ButtonLink>
      }
    >
      Your backend records what is used with POST /v1/events: tokens, minutes, bytes. Each shows up here.
    </EmptyState>
  );
}
