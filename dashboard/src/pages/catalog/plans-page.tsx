import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileJson, Layers, Plus, Star } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { countOf } from "../../words/numbers.ts";
import { CreatePlanDialog } from "./create-plan-dialog.tsx";
import { DefaultPlanDialog } from "./default-plan-dialog.tsx";
import { ListFilter } from "./list-filter.tsx";
import { PlanCard } from "./plan-card.tsx";
import { PromoteLink } from "./promote-link.tsx";
import { plansQuery } from "./queries.ts";
import { matches } from "./search.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans");

const CHOICES = [
  { value: "offered", label: "Offered" },
  { value: "archived", label: "Archived" },
  { value: "all", label: "All" },
];

export function PlansPage() {
  const place = usePlace();
  const { search, show } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<"create" | "default" | null>(null);
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  const shown = plans.filter(
    ({ key, name, archivedAt }) =>
      matches(search, key, name) && (show === "all" || (archivedAt !== null) === (show === "archived")),
  );
  return (
    <Page
      title="Plans"
      note="What customers are on: credits for each period, and what they may use."
      actions={
        <>
          <ButtonLink
            to="/projects/$projectId/$environment/catalog-file"
            params={place}
            tone="quiet"
            icon={FileJson}
          >
            Catalog as a file
          </ButtonLink>
          <PromoteLink place={place} tone="quiet" />
          {mayEdit && plans.some(({ latest }) => latest !== null) && (
            <Button icon={Star} onClick={() => setOpen("default")}>
              Default plan
            </Button>
          )}
          {mayEdit && <NewPlan tone="primary" onClick={() => setOpen("create")} />}
        </>
      }
    >
      {plans.length > 0 && (
        <ListFilter
          what="plans"
          search={search}
          onSearch={(text) =>
            void navigate({ search: (before) => ({ ...before, search: text }), replace: true })
          }
          show={show ?? "offered"}
          onShow={(choice) =>
            void navigate({
              search: (before) => ({
                ...before,
                show: choice === "archived" || choice === "all" ? choice : undefined,
              }),
              replace: true,
            })
          }
          choices={CHOICES}
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
            <EmptyState icon={Layers} title="No plan is like that">
              There are {countOf(plans.length, "plan")} in all: change the filter to see them.
            </EmptyState>
          ) : (
            <EmptyState
              icon={Layers}
              title="No plans yet"
              action={
                <span className="flex flex-wrap justify-center gap-2">
                  {place.environment === "live" && <PromoteLink place={place} />}
                  {mayEdit && <NewPlan tone="plain" onClick={() => setOpen("create")} />}
                </span>
              }
            >
              A plan gives its customers credits for each period, and says which features they may use.
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
      New plan
    </Button>
  );
}
