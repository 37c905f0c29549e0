import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { Details } from "../../ui/details.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { allowanceInWords, capitalize, costInWords, limitInWords } from "../../words/terms.ts";
import { findRenewal } from "./find-renewal.ts";
import type { Grant } from "./ledger-queries.ts";
import { type PlanVersion, planVersionQuery } from "./plan-version-query.ts";
import type { Customer } from "./queries.ts";

type ActivePlan = NonNullable<Customer["plan"]>;

/** On which terms: those of the version that this customer has, which may not be the latest. */
export function PlanCard({ plan, grants }: { plan: Customer["plan"]; grants: readonly Grant[] }) {
  if (plan === null) {
    return (
      <Card title="Plan">
        <p className="text-muted">
          None. Every request is denied until a plan is assigned; credits that are there wait, and are not
          lost.
        </p>
      </Card>
    );
  }
  return <Terms plan={plan} grants={grants} />;
}

function Terms({ plan, grants }: { plan: ActivePlan; grants: readonly Grant[] }) {
  const place = usePlace();
  const { data: version } = useQuery(planVersionQuery(place, plan));
  return (
    <Card
      title={
        <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...place, key: plan.key }}>
          {plan.name}
        </TextLink>
      }
      note={`Version ${plan.version}${plan.isDefault ? ", as the default: nobody assigned it" : ""}`}
    >
      <Details
        items={[
          { name: "Since", value: <Time at={plan.anchor} /> },
          { name: "Ends", value: plan.endsAt === null ? "Never" : <Time at={plan.endsAt} /> },
          ...(version === undefined || version === null ? [] : termsOf(version, grants)),
        ]}
      />
    </Card>
  );
}

function termsOf({ allowances, features }: PlanVersion, grants: readonly Grant[]) {
  return [
    ...allowances.map((allowance) => {
      const renewal = findRenewal(allowance, grants);
      return {
        name: allowances.length === 1 ? "Gives" : `Gives ${allowance.pool}`,
        value: (
          <>
            {capitalize(allowanceInWords(allowance))}
            {renewal !== null && (
              <div className="text-caption text-muted">
                Begins anew <Time at={renewal} />
              </div>
            )}
          </>
        ),
      };
    }),
    ...features.map(({ feature, cost, limit }) => ({
      name: feature,
      value: (
        <>
          {capitalize(costInWords(cost, null))}
          {limit !== null && (
            <div className="text-caption text-muted">{capitalize(limitInWords(limit, null))}</div>
          )}
        </>
      ),
    })),
  ];
}
