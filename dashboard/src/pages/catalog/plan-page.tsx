import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Ellipsis, PenLine, Star, UsersRound } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink, IconButton } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { ArchivePlanDialog } from "./archive-plan-dialog.tsx";
import { DefaultPlanDialog } from "./default-plan-dialog.tsx";
import { DraftCard } from "./draft-card.tsx";
import { PlanBadges } from "./plan-badges.tsx";
import { planQuery } from "./queries.ts";
import { TermsCard } from "./terms-card.tsx";
import { VersionsCard } from "./versions-card.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key");

export function PlanPage() {
  const place = usePlace();
  const { key } = route.useParams();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<"archive" | "default" | null>(null);
  const { data: tagged } = useSuspenseQuery(planQuery(place, key));
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
          {latest !== null && (
            <ButtonLink
              to="/projects/$projectId/$environment/customers"
              params={place}
              search={{ plan: key }}
              tone="quiet"
              icon={UsersRound}
            >
              Customers
            </ButtonLink>
          )}
          {mayEdit && plan.draft === null && (
            <ButtonLink
              to="/projects/$projectId/$environment/plans/$key/edit"
              params={{ ...place, key }}
              tone="primary"
              icon={PenLine}
            >
              Edit plan
            </ButtonLink>
          )}
          {mayEdit && latest !== null && (
            <Menu trigger={<IconButton icon={Ellipsis} label="More for this plan" />}>
              {!plan.isDefault && !isArchived && (
                <MenuItem icon={Star} onClick={() => setOpen("default")}>
                  Make it the default plan
                </MenuItem>
              )}
              <MenuItem icon={isArchived ? ArchiveRestore : Archive} onClick={() => setOpen("archive")}>
                {isArchived ? "Offer again" : "Archive"}
              </MenuItem>
            </Menu>
          )}
        </>
      }
    >
      {plan.draft !== null && <DraftCard opened={tagged} draft={plan.draft} />}
      {latest !== null && <TermsCard version={latest} />}
      {latest !== null && <VersionsCard versions={plan.versions} hasMore={plan.nextBefore !== null} />}
      <Disclosure title="JSON">
        <CodeBlock label="the plan" code={JSON.stringify(plan, null, 2)} />
      </Disclosure>
      {open === "archive" && <ArchivePlanDialog opened={tagged} onClose={() => setOpen(null)} />}
      {open === "default" && <DefaultPlanDialog suggested={key} onClose={() => setOpen(null)} />}
    </Page>
  );
}
