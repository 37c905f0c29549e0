import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiProblem } from "../../api/api-problem.ts";
import { clearUserData, queryClient } from "../../api/query-client.ts";
import { type Session, sessionQuery } from "../../api/session.ts";
import { useTabTitle } from "../../ui/page.tsx";

/** Layout of the login pages. */
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

/** Separates two ways to log in. */
export function Divider({ children }: { children: ReactNode }) {
  return (
    <div className="flex items-center gap-3 text-caption text-muted">
      <span className="h-px flex-1 bg-line" aria-hidden />
      {children}
      <span className="h-px flex-1 bg-line" aria-hidden />
    </div>
  );
}

/** Stores the new session and opens the requested page. */
export function useSessionStart(href = "/") {
  const navigate = useNavigate();
  return async (session: Session): Promise<void> => {
    clearUserData();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    await navigate({ href });
  };
}

/** Whether a link is used, expired or unknown. The API does not distinguish these cases. */
export function isLinkInvalid(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "link_invalid";
}

/** Reads the token after `#` and removes it from the URL, so that it does not stay in the browser history. */
export function takeLinkToken(): string | null {
  const token = window.location.hash.slice(1);
  if (token === "") return null;
  window.history.replaceState(window.history.state, "", window.location.pathname);
  return token;
}
