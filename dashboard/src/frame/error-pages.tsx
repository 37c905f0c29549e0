import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { ApiProblem } from "../api/api-problem.ts";
import { ButtonLink } from "../ui/button.tsx";
import { ProblemCallout } from "../ui/callout.tsx";
import { EmptyState, Page } from "../ui/page.tsx";

export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  const { reset } = useQueryErrorResetBoundary();
  if (error instanceof ApiProblem && error.status === 404) return <PageNotFound />;
  return (
    <Page title="Something went wrong">
      <ProblemCallout
        error={error}
        onRetry={() => {
          reset();
          return router.invalidate();
        }}
      />
    </Page>
  );
}

export function PageNotFound() {
  return (
    <Page title="Not found">
      <EmptyState
        icon={Compass}
        title="This page does not exist"
        action={<ButtonLink to="/">Go to Home</ButtonLink>}
      >
        The page may be in the other environment, its data may have been erased, or you may not have access to
        it. Press Ctrl K to search everywhere.
      </EmptyState>
    </Page>
  );
}
