import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { capitalize, costInWords, limitInWords } from "../../words/terms.ts";
import { AllowanceLines } from "./allowance-lines.tsx";
import { PlanBadges } from "./plan-badges.tsx";
import { featuresQuery, type PlanSummary, type PlanVersion } from "./queries.ts";

const FEATURES_SHOWN = 6;

export function PlanCard({ plan }: { plan: PlanSummary }) {
  const place = usePlace();
  const { key, name, latest } = plan;
  const to = { to: "/projects/$projectId/$environment/plans/$key", params: { ...place, key } } as const;
  return (
    <article className="flex h-full flex-col gap-4 rounded-lg border border-line bg-surface p-4 shadow-card">
      <header className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="text-section font-semibold wrap-anywhere">
            <TextLink {...to}>{name}</TextLink>
          </h2>
          <p className="font-mono text-caption text-muted wrap-anywhere">{key}</p>
        </div>
        <span className="flex flex-wrap gap-1.5">
          <PlanBadges plan={plan} />
        </span>
      </header>
      {latest === null ? (
        <p className="text-muted">Never published: nobody can be on it before its first version is.</p>
      ) : (
        <>
          <AllowanceLines allowances={latest.allowances} />
          <Features version={latest} />
        </>
      )}
      <footer className="mt-auto flex flex-wrap justify-between gap-x-4 gap-y-1 border-t border-line pt-3 text-caption text-muted">
        {latest === null ? (
          <span>No version yet</span>
        ) : (
          <span>
            Version {latest.number}, <Time at={latest.publishedAt} as="day" />
          </span>
        )}
        {latest !== null && (
          <TextLink
            to="/projects/$projectId/$environment/customers"
            params={place}
            search={{ plan: key }}
            aria-label={`Customers on ${name}`}
          >
            Customers
          </TextLink>
        )}
      </footer>
    </article>
  );
}

function Features({ version: { features } }: { version: PlanVersion }) {
  const { data: known } = useSuspenseQuery(featuresQuery(usePlace()));
  if (features.length === 0) return <p className="text-muted">Includes no feature.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {features.slice(0, FEATURES_SHOWN).map(({ feature: key, cost, limit }) => {
        const { name, unit } = known.find((feature) => feature.key === key) ?? { name: key, unit: null };
        return (
          <li key={key}>
            <span className="block">{name}</span>
            <span className="block text-caption text-muted">
              {capitalize(
                [costInWords(cost, unit), ...(limit === null ? [] : [limitInWords(limit, unit)])].join(", "),
              )}
            </span>
          </li>
        );
      })}
      {features.length > FEATURES_SHOWN && (
        <li className="text-caption text-muted">and {features.length - FEATURES_SHOWN} more</li>
      )}
    </ul>
  );
}
