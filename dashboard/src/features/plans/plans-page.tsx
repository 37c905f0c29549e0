import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileJson, Layers, Plus, Star } from "lucide-react";
import { useState } from "react";
import { countOf } from "../../format/numbers.ts";
import { capitalize, formatCost, formatLimit } from "../../format/terms.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { ARCHIVE_CHOICES, isShown, ListFilter, NoMatches } from "../catalog/list-filter.tsx";
import { PromoteLink } from "../catalog/promote-link.tsx";
import {
  featuresQuery,
  type PlanSummary,
  type PlanVersion,
  plansQuery,
  readPlanSearch,
} from "../catalog/queries.ts";
import { CreatePlanDialog, DefaultPlanDialog } from "./plan-dialogs.tsx";
import { AllowanceLines, PlanBadges } from "./plan-parts.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans");

export function PlansPage() {
  const scope = useScope();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<"create" | "default" | null>(null);
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const shown = plans.filter((plan) => isShown(plan, filter));
  return (
    <Page
      title="Plans"
      note="Credits per period and the features customers can use."
      actions={
        <>
          <ButtonLink
            to="/projects/$projectId/$environment/catalog-file"
            params={scope}
            tone="quiet"
            icon={FileJson}
          >
            Catalog file
          </ButtonLink>
          <PromoteLink scope={scope} tone="quiet" />
          {mayEdit && plans.some(({ latest }) => latest !== null) && (
            <Button icon={Star} onClick={() => setOpen("default")}>
              Set default plan
            </Button>
          )}
          {mayEdit && <NewPlan tone="primary" onClick={() => setOpen("create")} />}
        </>
      }
    >
      {plans.length > 0 && (
        <ListFilter
          what="plans"
          {...filter}
          onChange={(changed) =>
            void navigate({ search: (before) => readPlanSearch({ ...before, ...changed }), replace: true })
          }
          choices={ARCHIVE_CHOICES}
        />
      )}
      {shown.length > 0 ? (
        <>
          <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
            {shown.map((plan) => (
              <li key={plan.key} className="min-w-0">
                <PlanCard plan={plan} />
              </li>
            ))}
          </ul>
          <p className="text-caption text-muted">{countOf(shown.length, "plan")}</p>
        </>
      ) : (
        <Card flush>
          {plans.length > 0 ? (
            <NoMatches icon={Layers} count={plans.length} noun="plan" />
          ) : (
            <EmptyState
              icon={Layers}
              title="No plans yet"
              action={
                <span className="flex flex-wrap justify-center gap-2">
                  {scope.environment === "live" && <PromoteLink scope={scope} />}
                  {mayEdit && <NewPlan tone="plain" onClick={() => setOpen("create")} />}
                </span>
              }
            >
              A plan defines how many credits customers get each period and which features they can use.
            </EmptyState>
          )}
        </Card>
      )}
      {open === "create" && <CreatePlanDialog onClose={() => setOpen(null)} />}
      {open === "default" && <DefaultPlanDialog onClose={() => setOpen(null)} />}
    </Page>
  );
}

function NewPlan({ tone, onClick }: { tone: "primary" | "plain"; onClick: () => void }) {
  return (
    <Button icon={Plus} tone={tone} onClick={onClick}>
      Create plan
    </Button>
  );
}

const FEATURES_SHOWN = 6;

function PlanCard({ plan }: { plan: PlanSummary }) {
  const scope = useScope();
  const { key, name, latest } = plan;
  const to = { to: "/projects/$projectId/$environment/plans/$key", params: { ...scope, key } } as const;
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
        <p className="text-muted">Not published yet.</p>
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
            params={scope}
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
  const { data: known } = useSuspenseQuery(featuresQuery(useScope()));
  if (features.length === 0) return <p className="text-muted">No features.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {features.slice(0, FEATURES_SHOWN).map(({ feature: key, cost, limit }) => {
        const { name, unit } = known.find((feature) => feature.key === key) ?? { name: key, unit: null };
        return (
          <li key={key}>
            <span className="block">{name}</span>
            <span className="block text-caption text-muted">
              {capitalize(
                [formatCost(cost, unit), ...(limit === null ? [] : [formatLimit(limit, unit)])].join(", "),
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
