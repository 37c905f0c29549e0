import { Activity, KeyRound } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

export function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  const place = usePlace();
  if (isFiltered) {
    return (
      <EmptyState
        icon={Activity}
        title="No request like this among those looked at"
        action={
          <ButtonLink to="/projects/$projectId/$environment/requests" params={place}>
            Clear the filters
          </ButtonLink>
        }
      >
        A customer is found by the whole id, as your backend sends it.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Activity}
      title="No requests in the last 7 days"
      action={
        <ButtonLink icon={KeyRound} to="/projects/$projectId/$environment/api-keys" params={place}>
          API keys
        </ButtonLink>
      }
    >
      They appear here about a second after your backend sends them. An API key of this environment is all
      that it needs.
    </EmptyState>
  );
}
