import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Callout } from "../../ui/callout.tsx";
import { Page } from "../../ui/page.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { PlanEditor } from "./plan-editor.tsx";
import { planQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/plans/$key/edit");

export function EditPlanPage() {
  const place = usePlace();
  const { key } = route.useParams();
  const { data: tagged } = useSuspenseQuery(planQuery(place, key));
  const { name, versions } = tagged.value;
  const mayEdit = useMayActAs("admin");
  return (
    <Page
      title={`Edit ${name}`}
      note={
        <>
          {versions.length === 0 ? "The first version" : `Version ${(versions[0]?.number ?? 0) + 1}`} of{" "}
          <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...place, key }}>
            {name}
          </TextLink>
          , as a draft: nobody gets it before it is published.
        </>
      }
    >
      {mayEdit ? (
        <PlanEditor key={key} first={tagged} />
      ) : (
        <Callout title="Only admins change plans">Ask one of them, or look at the plan as it is.</Callout>
      )}
    </Page>
  );
}
