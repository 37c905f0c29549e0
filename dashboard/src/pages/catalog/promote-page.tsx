import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { countOf } from "../../words/numbers.ts";
import { CatalogChanges } from "./catalog-changes.tsx";
import { PromotePanel } from "./promote-panel.tsx";
import { promotionQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/promote");

/** From what was tried to what is sold: looked at first, then done in one step. */
export function PromotePage() {
  const place = usePlace();
  const { archive } = route.useSearch();
  const navigate = route.useNavigate();
  const archiveMissing = archive !== undefined;
  // The box answers at once; the address, and with it the comparison, follow.
  const [box, setBox] = useState({ isChecked: archiveMissing, address: archiveMissing });
  if (box.address !== archiveMissing) setBox({ isChecked: archiveMissing, address: archiveMissing });
  const mayPromote = useMayActAs("admin");
  const [done, setDone] = useState<Answer<"promoteCatalog"> | null>(null);
  const { data: promotion } = useSuspenseQuery(promotionQuery(place.projectId, archiveMissing));
  const isPending =
    promotion.kind === "possible" && promotion.diff.changes.some(({ change }) => change !== "unchanged");
  return (
    <Page
      title="Promote test to live"
      note="Live gets the pools, features, plans and event keys of test. Customers, balances and drafts never cross."
      actions={
        <ButtonLink
          to="/projects/$projectId/$environment/plans"
          params={{ ...place, environment: "test" }}
          tone="quiet"
        >
          Back to test
        </ButtonLink>
      }
    >
      {done !== null && <Done done={done} />}
      {promotion.kind === "blocked" ? (
        <Callout tone="bad" title="It cannot be promoted as it is">
          <p>{promotion.problem.message}</p>
          <p>Nothing was changed. Mend it in test or live, then look again.</p>
        </Callout>
      ) : (
        <>
          <Checkbox
            label="Also archive what test lacks"
            hint="Plans and features of live that test does not have are then no longer offered. Who is on them keeps them."
            checked={box.isChecked}
            onChange={({ target: { checked } }) => {
              setBox({ ...box, isChecked: checked });
              void navigate({ search: (before) => ({ ...before, archive: checked ? "true" : undefined }) });
            }}
          />
          <div
            className={classNames(
              "grid items-start gap-6",
              mayPromote && isPending && "lg:grid-cols-[1fr_22rem]",
            )}
          >
            <div className="flex min-w-0 flex-col gap-6">
              <CatalogChanges
                changes={promotion.diff.changes}
                nothing="Live has all that test has, as test has it."
              />
            </div>
            {mayPromote && isPending && (
              <div className="min-w-0 lg:sticky lg:top-6">
                <PromotePanel diff={promotion.diff} archiveMissing={archiveMissing} onDone={setDone} />
              </div>
            )}
          </div>
        </>
      )}
    </Page>
  );
}

function Done({ done: { outcome, changes } }: { done: Answer<"promoteCatalog"> }) {
  const place = usePlace();
  const count = changes.filter(({ change }) => change !== "unchanged").length;
  return (
    <Callout tone="good" title="Live sells what test sells">
      <p>
        {outcome === "applied"
          ? `${countOf(count, "change")} made, all in one step.`
          : "There was nothing to do."}
      </p>
      <div className="mt-2">
        <ButtonLink to="/projects/$projectId/$environment/plans" params={place}>
          Look at live's plans
        </ButtonLink>
      </div>
    </Callout>
  );
}
