import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, Sparkles } from "lucide-react";
import { capitalize, formatCost, joinList } from "../../format/terms.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useMayActAs, usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { ButtonLink, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { findOtherPrices } from "../plans/plan-terms.ts";
import { FeatureDialog } from "./feature-dialog.tsx";
import { CreateFeatureDialog } from "./feature-form.tsx";
import { ARCHIVE_CHOICES, isShown, ListFilter, NoMatches } from "./list-filter.tsx";
import { PromoteLink } from "./promote-link.tsx";
import { type Feature, featuresQuery, plansQuery, poolsQuery, readFeatureSearch } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/features");

export function FeaturesPage() {
  const scope = useScope();
  const { key, define, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const shown = features.filter((feature) => isShown(feature, filter));
  const close = (): void =>
    void navigate({
      search: ({ key: _, define: __, ...before }) => before,
      resetScroll: false,
    });
  return (
    <Page
      title="Features"
      note="Actions your customers can take, and their cost."
      actions={mayEdit && <NewFeature tone="primary" />}
    >
      <SectionTabs section="Features" />
      {features.length > 0 && (
        <ListFilter
          what="features"
          {...filter}
          onChange={(changed) =>
            void navigate({ search: (before) => readFeatureSearch({ ...before, ...changed }), replace: true })
          }
          choices={ARCHIVE_CHOICES}
        />
      )}
      <Card flush>
        {shown.length > 0 ? (
          <FeatureTable features={shown} />
        ) : features.length > 0 ? (
          <NoMatches icon={Sparkles} count={features.length} noun="feature" />
        ) : (
          <EmptyState
            icon={Sparkles}
            title="No features yet"
            action={
              <span className="flex flex-wrap justify-center gap-2">
                {scope.environment === "live" && <PromoteLink scope={scope} />}
                {mayEdit && <NewFeature />}
              </span>
            }
          >
            A feature is something customers can do, such as generate an image or export a file. Plans
            determine which customers get it.
          </EmptyState>
        )}
      </Card>
      {mayEdit && define !== undefined && <CreateFeatureDialog prefilledKey={define} onClose={close} />}
      {key !== undefined && <FeatureDialog key={key} featureKey={key} onClose={close} />}
    </Page>
  );
}

function NewFeature({ tone = "plain" }: { tone?: "primary" | "plain" }) {
  return (
    <ButtonLink
      from="/projects/$projectId/$environment/features"
      to="."
      search={(before) => ({ ...before, define: "" })}
      resetScroll={false}
      icon={Plus}
      tone={tone}
    >
      Create feature
    </ButtonLink>
  );
}

function FeatureTable({ features }: { features: readonly Feature[] }) {
  const scope = useScope();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const nameOfPool = usePoolNames();
  const nameOfPlan = (wanted: string) => plans.find(({ key }) => key === wanted)?.name ?? wanted;
  const columns: readonly Column<Feature>[] = [
    {
      name: "Feature",
      isRowLink: true,
      csv: ({ name }) => name,
      cell: (feature) => <Name feature={feature} />,
    },
    csvColumn("Key", ({ key }) => key),
    {
      name: "Cost",
      csv: ({ cost, unit }) => capitalize(formatCost(cost, unit)),
      sortBy: ({ cost }) => cost.credits / cost.per,
      cell: ({ cost, unit }) => capitalize(formatCost(cost, unit)),
    },
    {
      name: "Unit",
      hidesBelow: "md",
      csv: ({ unit }) => unit,
      cell: ({ unit }) => unit ?? <span className="text-muted">None</span>,
    },
    {
      name: "Pool",
      hidesBelow: "md",
      // With one pool, the column is redundant.
      isShown: pools.length > 1,
      csv: ({ pool }) => nameOfPool(pool),
      cell: ({ pool }) => nameOfPool(pool),
    },
    {
      name: "Plans",
      isWide: true,
      hidesBelow: "md",
      csv: ({ usedBy }) => usedBy.map(nameOfPlan).join(", "),
      cell: (feature) => <UsedBy feature={feature} />,
    },
  ];
  return (
    <ListTable label="Features" columns={columns} rows={features} keyOf={({ key }) => key} what="features" />
  );
}

function Name({ feature: { key, name, archivedAt } }: { feature: Feature }) {
  return (
    <div className="max-w-80 min-w-32 wrap-anywhere whitespace-normal">
      <span className="flex flex-wrap items-center gap-x-2">
        <TextLink
          from="/projects/$projectId/$environment/features"
          to="."
          search={(before) => ({ ...before, key })}
          resetScroll={false}
        >
          {name}
        </TextLink>
        {archivedAt !== null && <Badge>Archived</Badge>}
      </span>
      <div className="font-mono text-caption text-muted">{key}</div>
    </div>
  );
}

/** Plans that use the feature, and those that still use an older cost. */
function UsedBy({ feature }: { feature: Feature }) {
  const scope = useScope();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  if (feature.usedBy.length === 0) return <span className="text-muted">None</span>;
  return (
    <div className="flex flex-col gap-0.5">
      <span className="flex flex-wrap gap-x-3">
        {feature.usedBy.map((key) => (
          <TextLink key={key} to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key }}>
            {plans.find((plan) => plan.key === key)?.name ?? key}
          </TextLink>
        ))}
      </span>
      {findOtherPrices(feature, plans).map(({ plans: names, cost }) => (
        <span key={names.join()} className="text-caption text-warn">
          {joinList(names)} still {names.length === 1 ? "charges" : "charge"}{" "}
          {cost.credits === 0 ? "nothing" : formatCost(cost, feature.unit)}
        </span>
      ))}
    </div>
  );
}
