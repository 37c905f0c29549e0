import { useNavigate } from "@tanstack/react-router";
import { ApiProblem } from "../../api/api-problem.ts";
import { clearUserData } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";

/** Offers to log in again if a change needs a recent login. Shows all other errors as usual. */
export function LogInAgain({ error }: { error: unknown }) {
  const navigate = useNavigate();
  const logOut = useWrite("delete", "/manage/v1/session", {
    onSuccess: async () => {
      const next = window.location.pathname;
      clearUserData();
      await navigate({ to: "/log-in", search: { next } });
    },
  });
  if (!(error instanceof ApiProblem) || error.code !== "recent_log_in_required") {
    return <ProblemCallout error={logOut.error ?? error} />;
  }
  return (
    <Callout tone="warn" title="Log in again to make this change">
      <p>After logging in, you'll return to this page and have 10 minutes to make the change.</p>
      <div className="mt-2">
        <Button isBusy={logOut.isPending} onClick={() => logOut.mutate({})}>
          Log in again
        </Button>
      </div>
    </Callout>
  );
}
