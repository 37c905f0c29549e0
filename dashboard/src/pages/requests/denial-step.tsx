import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink, type Tone } from "../../ui/button.tsx";
import type { NextStep } from "../../words/denial-now.ts";
import { formatCount } from "../../words/numbers.ts";
import type { Denial } from "./queries.ts";

/** A way on, to where it is done. */
export function DenialStep({
  step,
  denial: { customerId, plan, feature },
  isFirst,
}: {
  step: NextStep;
  denial: Denial;
  isFirst: boolean;
}) {
  const place = usePlace();
  const isAdmin = useMayActAs("admin");
  const tone: Tone = isFirst ? "primary" : "plain";
  if (step.kind === "define-feature") {
    return !isAdmin ? null : (
      <ButtonLink
        tone={tone}
        to="/projects/$projectId/$environment/features"
        params={place}
        search={{ define: feature }}
      >
        Define the feature
      </ButtonLink>
    );
  }
  if (step.kind === "edit-plan") {
    if (plan === null) return null;
    return (
      <ButtonLink
        tone={tone}
        to="/projects/$projectId/$environment/plans/$key"
        params={{ ...place, key: plan.key }}
      >
        See plan {plan.name}
      </ButtonLink>
    );
  }
  if (customerId === null) return null;
  const search = { do: step.kind };
  return (
    <ButtonLink
      tone={tone}
      to="/projects/$projectId/$environment/customers/$customerId"
      params={{ ...place, customerId }}
      search={search}
    >
      {step.kind === "add-credits"
        ? `Add credits, ${formatCount(step.missing)} are missing`
        : NAMES[step.kind]}
    </ButtonLink>
  );
}

const NAMES = { "assign-plan": "Assign another plan", unblock: "Unblock the customer" } as const;
