import { useSuspenseQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { TextLink } from "../../ui/text-link.tsx";
import { plansQuery } from "./queries.ts";

/** "Free, Pro and Scale", each a link. */
export function PlanNames({ keys }: { keys: readonly string[] }) {
  const place = usePlace();
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  return keys.map((key, index) => (
    <Fragment key={key}>
      {index > 0 && (index === keys.length - 1 ? " and " : ", ")}
      <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...place, key }}>
        {plans.find((plan) => plan.key === key)?.name ?? key}
      </TextLink>
    </Fragment>
  ));
}
