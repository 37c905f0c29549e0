import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Ellipsis, PenLine, Star, UsersRound } from "lucide-react";
import { useState } from "react";
import { capitalize, formatCost, formatLimit } from "../../format/terms.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { ButtonLink, IconButton, TextLink } from "../../ui/button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { featuresQuery, type PlanVersion, planQuery } from "../catalog/queries.ts";
import { ArchivePlanDialog, DraftCard } from "./draft-card.tsx";
import { DefaultPlanDialog } from "./plan-dialogs.tsx";
import { AllowanceLines, PlanBadges, REACH_NAMES, SentenceList, useNames } from "./plan-parts.tsx";
import { diffTerms, isSamePrice, type PinnedFeature, sentencesOf } from "./plan-terms.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key");

export function PlanPage() {
  const scope = useScope();
  const { key } = route.useParams();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<"archive" | "default" | null>(null);
  const { data: tagged } = useSuspenseQuery(planQuery(scope, key));
  const plan = tagged.value;
  const [latest = null] = plan.versions;
  const isArchived = plan.archivedAt !== null;
  return (
    <Page
      title={plan.name}
      heading={
        <span className="flex flex-wrap items-center gap-2">
          {plan.name}
          <PlanBadges plan={{ ...plan, latest, hasDraft: plan.draft !== null }} />
        </span>
      }
      note={<span className="font-mono text-caption">{key}</span>}
      actions={
        <>
          <PageCode json={{ label: "the plan", value: plan }} />
          {latest !== null && (
            <ButtonLink
              to="/projects/$projectId/$environment/customers"
              params={scope}
              search={{ plan: key }}
              tone="quiet"
              icon={UsersRound}
            >
              View customers
            </ButtonLink>
          )}
          {mayEdit && plan.draft === null && (
            <ButtonLink
              to="/projects/$projectId/$environment/plans/$key/edit"
              params={{ ...scope, key }}
              tone="primary"
              icon={PenLine}
            >
              Edit plan
            </ButtonLink>
          )}
          {mayEdit && latest !== null && (
            <Menu trigger={<IconButton icon={Ellipsis} label="More actions" />}>
              {!plan.isDefault && !isArchived && (
                <MenuItem icon={Star} onClick={() => setOpen("default")}>
                  Set as default plan
                </MenuItem>
              )}
              <MenuItem icon={isArchived ? ArchiveRestore : Archive} onClick={() => setOpen("archive")}>
                {isArchived ? "Restore" : "Archive"}
              </MenuItem>
            </Menu>
          )}
        </>
      }
    >
      {plan.draft !== null && <DraftCard opened={tagged} draft={plan.draft} />}
      {latest !== null && <TermsCard version={latest} />}
      {latest !== null && <VersionsCard versions={plan.versions} hasMore={plan.nextBefore !== null} />}
      {open === "archive" && <ArchivePlanDialog opened={tagged} onClose={() => setOpen(null)} />}
      {open === "default" && <DefaultPlanDialog suggested={key} onClose={() => setOpen(null)} />}
    </Page>
  );
}

const TERM_COLUMNS: readonly Column<PinnedFeature>[] = [
  { name: "Feature", cell: (terms) => <FeatureLink terms={terms} /> },
  { name: "Cost", cell: (terms) => <PinnedCost terms={terms} /> },
  { name: "Limit", isWide: true, hidesBelow: "md", cell: (terms) => <LimitCell terms={terms} /> },
];

/** Terms of the latest version. */
function TermsCard({ version }: { version: PlanVersion }) {
  const { number, allowances, features } = version;
  const isForNew = number > 1 && version.reach === "new_assignments";
  return (
    <Card
      title="Terms"
      note={`Version ${number}.${isForNew ? " Existing customers keep an older version." : ""}`}
      flush
    >
      <div className="border-b border-line px-4 py-3">
        <AllowanceLines allowances={allowances} />
      </div>
      {features.length === 0 ? (
        <p className="px-4 py-3 text-muted">No features: customers on this plan cannot use anything.</p>
      ) : (
        <Table
          label="Features in the plan"
          columns={TERM_COLUMNS}
          rows={features}
          keyOf={({ feature }) => feature}
        />
      )}
    </Card>
  );
}

function FeatureLink({ terms: { feature: key } }: { terms: PinnedFeature }) {
  const scope = useScope();
  return (
    <div className="max-w-80 min-w-32 wrap-anywhere whitespace-normal">
      <TextLink to="/projects/$projectId/$environment/features" params={scope} search={{ key }}>
        {useNames(scope).feature(key).name}
      </TextLink>
    </div>
  );
}

/** Pinned cost, and the current cost if it differs. */
function PinnedCost({ terms }: { terms: PinnedFeature }) {
  const scope = useScope();
  const names = useNames(scope);
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const now = features.find(({ key }) => key === terms.feature);
  const pool = names.pool(terms.pool);
  const unit = now?.unit ?? null;
  return (
    <div>
      {capitalize(formatCost(terms.cost, unit))}
      {pool !== null && terms.cost.credits > 0 && <span className="text-muted"> from {pool}</span>}
      {terms.limit !== null && (
        <div className="text-caption text-muted md:hidden">{capitalize(formatLimit(terms.limit, unit))}</div>
      )}
      {now !== undefined && !isSamePrice(terms, now) && (
        <div className="text-caption text-warn">Next version: {formatCost(now.cost, unit)}</div>
      )}
    </div>
  );
}

function LimitCell({ terms: { feature, limit } }: { terms: PinnedFeature }) {
  const { unit } = useNames(useScope()).feature(feature);
  if (limit === null) return <span className="text-muted">No limit</span>;
  return capitalize(formatLimit(limit, unit));
}

type Line = { readonly version: PlanVersion; readonly before: PlanVersion | null };

const VERSION_COLUMNS: readonly Column<Line>[] = [
  { name: "Version", cell: ({ version }) => version.number },
  { name: "Published", cell: ({ version }) => <Time at={version.publishedAt} as="day" /> },
  { name: "Applies to", hidesBelow: "md", cell: ({ version }) => REACH_NAMES[version.reach] },
  { name: "Changes", isWide: true, cell: (line) => <Changes line={line} /> },
];

/** Versions, newest first. If there are older versions, the last loaded version is used only for comparison. */
function VersionsCard({ versions, hasMore }: { versions: readonly PlanVersion[]; hasMore: boolean }) {
  const all = versions.map((version, index) => ({ version, before: versions[index + 1] ?? null }));
  const lines = hasMore ? all.slice(0, -1) : all;
  const note = hasMore ? ` Latest ${lines.length} shown.` : "";
  return (
    <Card title="Versions" note={`Published versions never change.${note}`} flush>
      <Table
        label="Versions"
        columns={VERSION_COLUMNS}
        rows={lines}
        keyOf={({ version }) => version.number}
      />
    </Card>
  );
}

function Changes({ line: { version, before } }: { line: Line }) {
  const names = useNames(useScope());
  if (before === null) return <span className="text-muted">First version</span>;
  const sentences = sentencesOf(diffTerms(before, version), names);
  if (sentences.length === 0) return <span className="text-muted">Same terms</span>;
  return <SentenceList label={`Changes in version ${version.number}`} sentences={sentences} />;
}
