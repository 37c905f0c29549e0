import { ArrowUpFromLine } from "lucide-react";
import type { Scope } from "../../api/answer.ts";
import { useMayActInProject } from "../../frame/use-scope.ts";
import { ButtonLink, type Tone } from "../../ui/button.tsx";

/** Always opens the page in Live, because promotion changes Live. */
export function PromoteLink({ scope, tone = "plain" }: { scope: Scope; tone?: Tone }) {
  if (!useMayActInProject("viewer")) return null;
  return (
    <ButtonLink
      to="/projects/$projectId/$environment/promote"
      params={{ ...scope, environment: "live" }}
      tone={tone}
      icon={ArrowUpFromLine}
    >
      Promote Test to Live
    </ButtonLink>
  );
}
