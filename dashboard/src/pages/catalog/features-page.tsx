import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, Sparkles } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { countOf } from "../../words/numbers.ts";
import { CreateFeatureDialog } from "./create-feature-dialog.tsx";
import { FeatureDialog } from "./feature-dialog.tsx";
import { FeatureTable } from "./feature-table.tsx";
import { FeatureTabs } from "./feature-tabs.tsx";
import { ListFilter } from "./list-filter.tsx";
import { PromoteLink } from "./promote-link.tsx";
import { featuresQuery } from "./queries.ts";
import { matches } from "./search.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/features");

const CHOICES = [
  { value: "offered", label: "Offered" },
  { value: "archived", label: "Archived" },
  { value: "all", label: "All" },
];

export function FeaturesPage() {
  const place = usePlace();
  const { search, show, key, define } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = useMayActAs("admin");
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const shown = features.filter(
    (feature) =>
      matches(search, feature.key, feature.name) &&
      (show === "all" || (feature.archivedAt !== null) === (show === "archived")),
  );
  const close = (): void =>
    void navigate({
      search: (before) => ({ ...before, key: undefined, define: undefined }),
      resetScroll: false,
    });
  return (
    <Page
      title="Features"
      note="What your customers may do, and what it costs."
      actions={mayEdit && <NewFeature tone="primary" />}
    >
      <FeatureTabs />
      {features.length > 0 && (
        <ListFilter
          what="features"
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
      <Card flush>
        {shown.length > 0 ? (
          <>
            <FeatureTable features={shown} />
            <footer className="border-t border-line px-4 py-2 text-caption text-muted">
              {countOf(shown.length, "feature")}
            </footer>
          </>
        ) : features.length > 0 ? (
          <EmptyState icon={Sparkles} title="No feature is like that">
            There are {countOf(features.length, "feature")} in all: change the filter to see them.
          </EmptyState>
        ) : (
          <EmptyState
            icon={Sparkles}
            title="No features yet"
            action={
              <span className="flex flex-wrap justify-center gap-2">
                {place.environment === "live" && <PromoteLink place={place} />}
                {mayEdit && <NewFeature />}
              </span>
            }
          >
            A feature is something a customer may do: generate an image, export a file. It costs credits, or
            has a limit, or both; plans say who gets it.
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
      New feature
    </ButtonLink>
  );
}
