import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Compass, RotateCw } from "lucide-react";
import { ApiProblem } from "../api/api-problem.ts";
import { Button, ButtonLink } from "../ui/button.tsx";
import { ProblemCallout } from "../ui/callout.tsx";
import { EmptyState, Page } from "../ui/page.tsx";

export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  if (error instanceof ApiProblem && error.status === 404) return <PageNotFound />;
  return (
    <Page title="Something went wrong">
      <ProblemCallout error={error} />
      <div>
        <Button
          icon={RotateCw}
          onClick={() => {
            reset();
            void router.invalidate();
          }}
        >
          Try again
        </Button>
      </div>
    </Page>
  );
}

export function PageNotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        icon={Compass}
        title="There is nothing at this address"
        action={<ButtonLink to="/">Go to the start</ButtonLink>}
      >
        It may be in the other environment, or it may have been erased. The search (Ctrl K) looks everywhere.
      </EmptyState>
    </Page>
  );
}
