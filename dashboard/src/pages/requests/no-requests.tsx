import { Activity, KeyRound, Send } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

export function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  const place = usePlace();
  const isOperator = useMayActAs("operator");
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
        <div className="flex flex-wrap justify-center gap-2">
          {place.environment === "test" && isOperator && (
            <ButtonLink
              icon={Send}
              to="/projects/$projectId/$environment/requests"
              params={place}
              search={{ do: "try", live: true }}
            >
              Try one from here
            </ButtonLink>
          )}
          <ButtonLink icon={KeyRound} to="/projects/$projectId/$environment/api-keys" params={place}>
            API keys
          </ButtonLink>
        </div>
      }
    >
      They appear here about a second after your backend sends them. An API key of this environment is all
      that it needs.
    </EmptyState>
  );
}
