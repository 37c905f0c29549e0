import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiProblem } from "../../api/api-problem.ts";
import { forgetEverything, queryClient } from "../../api/query-client.ts";
import { type Session, sessionQuery } from "../../api/session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { useTabTitle } from "../../ui/page.tsx";

/** The pages before the frame: one card, nothing else. */
export function AuthCard({
  title,
  note,
  children,
}: {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  useTabTitle(title);
  return (
    <main className="flex min-h-screen flex-col items-center px-4 py-[12vh]">
      <div className="flex w-full max-w-sm flex-col gap-6">
        <div className="flex items-center gap-2.5 text-page font-semibold tracking-tight">
          <img src="/icon.svg" alt="" className="size-8" />
          Purser
        </div>
        <div className="rounded-xl border border-line bg-surface p-6 shadow-card">
          <h1 className="text-section font-semibold">{title}</h1>
          {note !== undefined && <p className="mt-1 text-muted">{note}</p>}
          <div className="mt-5">{children}</div>
        </div>
      </div>
    </main>
  );
}

/** What every way in ends with: the session, and the page that was wanted. */
export function useSessionStart(href = "/") {
  const navigate = useNavigate();
  return async (session: Session): Promise<void> => {
    forgetEverything();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    await navigate({ href });
  };
}

/** The API never says which of them it was. */
export function isSpent(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "link_invalid";
}

/** A link that opens nothing, and what to do now. */
export function SpentLink({ title, whatToDo }: { title: string; whatToDo: string }) {
  return (
    <AuthCard title={title}>
      <div className="flex flex-col gap-4">
        <Callout tone="warn" title="This link was used, or its time is over">
          <p>{whatToDo}</p>
        </Callout>
        <ButtonLink to="/log-in">Log in</ButtonLink>
      </div>
    </AuthCard>
  );
}

/** Mail and chat programs cut links at the #. */
export function CutLink({ title }: { title: string }) {
  return (
    <AuthCard title={title}>
      <div className="flex flex-col gap-4">
        <Callout tone="warn" title="This link is not whole">
          <p>
            What stands after its <code className="font-mono">#</code> is missing. A reload takes it away,
            too: copy all of the link and open it again.
          </p>
        </Callout>
        <ButtonLink to="/log-in">Log in</ButtonLink>
      </div>
    </AuthCard>
  );
}

/** What stands behind the `#` of a link. It is taken out of the address at once, so that no history keeps it. */
export function takeLinkToken(): string | null {
  const token = window.location.hash.slice(1);
  if (token === "") return null;
  window.history.replaceState(window.history.state, "", window.location.pathname);
  return token;
}
