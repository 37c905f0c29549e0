import { ArrowUpFromLine } from "lucide-react";
import type { Place } from "../../api/answer.ts";
import { ButtonLink, type Tone } from "../../ui/button.tsx";

/** To what would change in live: the page stands there, wherever one comes from. */
export function PromoteLink({ place, tone = "plain" }: { place: Place; tone?: Tone }) {
  return (
    <ButtonLink
      to="/projects/$projectId/$environment/promote"
      params={{ ...place, environment: "live" }}
      tone={tone}
      icon={ArrowUpFromLine}
    >
      Promote test to live
    </ButtonLink>
  );
}
