import { ArrowUpFromLine } from "lucide-react";
import type { Place } from "../../api/answer.ts";
import { ButtonLink, type Tone } from "../../ui/button.tsx";

/** Always opens the page in live, which is what it changes. */
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
