import { createContext, type ReactNode, useContext, useEffect } from "react";

/** What every page begins with; its title is also the tab's, with the environment in it. */
export function Page({
  title,
  heading = title,
  note,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTabTitle(title);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6 px-4 py-6 md:px-8">
      <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-page font-semibold tracking-tight wrap-anywhere">{heading}</h1>
          {note !== undefined && <div className="mt-0.5 max-w-prose text-muted">{note}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

const NAMES = { test: "Test", live: "LIVE" } as const;

/** The title of the tab, with the environment in it: many tabs are open, and one must never be taken for another. */
export function useTabTitle(title: string): void {
  const environment = useContext(Here);
  const full = environment === null ? `${title} · Purser` : `${title} · ${NAMES[environment]} · Purser`;
  useEffect(() => {
    document.title = full;
  }, [full]);
}

type Environment = "test" | "live";

/** The environment that all within belongs to; null outside of any. */
export const Here = createContext<Environment | null>(null);

const EDGES = { test: "edge-test", live: "edge-live" } as const;

/** The coloured edge that says which it is. */
export function useEdge(): string | null {
  const environment = useContext(Here);
  return environment === null ? null : EDGES[environment];
}
