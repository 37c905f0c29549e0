import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { notifyManager, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { Menu as MenuIcon, RotateCw, Search, X } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { sessionQuery } from "../api/session.ts";
import { ENVIRONMENT_NAMES } from "../format/environments.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Callout } from "../ui/callout.tsx";
import { classNames } from "../ui/class-names.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { EnvironmentContext, GuideContext, useEdge } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { findStale } from "./find-stale.ts";
import { PAGE_GUIDES } from "./guides.ts";
import { useShortcuts } from "./keyboard.ts";
import { ENVIRONMENT_SECTIONS, workspaceSections } from "./sections.ts";
import { Sidebar } from "./sidebar.tsx";
import { useOptionalScope, useSession } from "./use-scope.ts";

const loadPalette = () => import("./palette.tsx").then(({ Palette }) => ({ default: Palette }));
const Palette = lazy(loadPalette);

/** Layout of all pages that need a session. When the session ends, the router redirects to the login page. */
export function Frame() {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const router = useRouter();
  const isGone = session === null;
  useEffect(() => {
    if (isGone) void router.invalidate();
  }, [isGone, router]);
  const environment = useOptionalScope()?.environment ?? null;
  return isGone ? null : (
    <EnvironmentContext value={environment}>
      <SignedInFrame />
    </EnvironmentContext>
  );
}

function SignedInFrame() {
  const edge = useEdge();
  const [isSearching, setSearching] = useState(false);
  const [isHelping, setHelping] = useState(false);
  useShortcuts({ onSearch: () => setSearching(true), onHelp: () => setHelping(true) });
  // Preload after the first page, so that the first Ctrl K opens immediately.
  useEffect(() => void loadPalette(), []);
  return (
    <div className="min-h-screen md:grid md:grid-cols-[15rem_1fr]">
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-60 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2 focus:shadow-over"
      >
        Skip to content
      </a>
      {edge !== null && <div aria-hidden className={classNames("fixed inset-x-0 top-0 z-30 h-1", edge)} />}
      <div className="sticky top-0 hidden h-screen border-r border-line bg-surface md:block">
        <Sidebar onSearch={() => setSearching(true)} onHelp={() => setHelping(true)} />
      </div>
      <NarrowBar onSearch={() => setSearching(true)} onHelp={() => setHelping(true)} />
      <main id="page" tabIndex={-1} className="min-w-0 pt-1 outline-none">
        <Progress />
        <StaleNotice />
        <GuideContext value={useGuide()}>
          <Outlet />
        </GuideContext>
      </main>
      {isSearching && (
        <Suspense>
          <Palette onClose={() => setSearching(false)} />
        </Suspense>
      )}
      <KeyboardHelp isOpen={isHelping} onClose={() => setHelping(false)} />
    </div>
  );
}

/** The guide for the current page. */
function useGuide(): string | null {
  const route = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath });
  return route === undefined ? null : (PAGE_GUIDES[route] ?? null);
}

/** Progress bar while the next page loads. */
function Progress() {
  const isLoading = useRouterState({ select: ({ isLoading }) => isLoading });
  return (
    <div
      aria-hidden
      className={classNames(
        "fixed inset-x-0 top-1 z-30 h-0.5 origin-left bg-accent transition-[scale,opacity] duration-300",
        isLoading ? "scale-x-75 opacity-100" : "scale-x-100 opacity-0",
      )}
    />
  );
}

const GENERAL = [
  { keys: ["Ctrl K", "⌘ K"], does: "Search everything" },
  { keys: ["/"], does: "Filter the list" },
  { keys: ["l"], does: "Start or pause the live tail" },
  { keys: ["Esc"], does: "Close the dialog or menu" },
  { keys: ["?"], does: "Show keyboard shortcuts" },
];

function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const sections = [...ENVIRONMENT_SECTIONS, ...workspaceSections(useSession())];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <ul className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        {GENERAL.map(({ keys, does }) => (
          <Line key={does} keys={keys} does={does} />
        ))}
        {sections.map(({ name, key }) => (
          <Line key={name} keys={[`g ${key}`]} does={`Go to ${name}`} />
        ))}
      </ul>
    </Dialog>
  );
}

function Line({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <li className="flex items-center justify-between gap-4">
      {does}
      <span className="flex gap-1">
        {keys.map((key) => (
          <Kbd key={key} keys={key} />
        ))}
      </span>
    </li>
  );
}

/** Shown when some visible data failed to refresh. */
function StaleNotice() {
  const queryClient = useQueryClient();
  const queries = queryClient.getQueryCache();
  const since = useSyncExternalStore(
    useCallback((onChange) => queries.subscribe(notifyManager.batchCalls(onChange)), [queries]),
    () => findStale(queries),
  );
  if (since === null) return null;
  return (
    <div role="status" className="mx-auto w-full max-w-6xl px-4 pt-6 md:px-8">
      <Callout tone="warn" title="Some data could not be refreshed">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <span>
            The oldest data is from <Time at={new Date(since).toISOString()} as="second" />.
          </span>
          <Button
            icon={RotateCw}
            onClick={() => void queryClient.refetchQueries({ type: "active", predicate: isFailed })}
          >
            Retry
          </Button>
        </div>
      </Callout>
    </div>
  );
}

function isFailed({ state }: { state: { status: string } }): boolean {
  return state.status === "error";
}

/** Top bar in narrow windows: a menu button and the environment. */
function NarrowBar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const scope = useOptionalScope();
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: close the menu on every navigation
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="sticky top-0 z-20 flex h-13 items-center gap-2 border-b border-line bg-surface px-3 pt-1 md:hidden">
      <IconButton icon={MenuIcon} label="Open navigation" onClick={() => setOpen(true)} />
      <span className="flex-1 text-form font-semibold">Purser</span>
      {scope !== null && <Badge tone={scope.environment}>{ENVIRONMENT_NAMES[scope.environment]}</Badge>}
      <IconButton icon={Search} label="Search" onClick={onSearch} />
      <BaseDialog.Root open={isOpen} onOpenChange={setOpen} modal="trap-focus">
        <BaseDialog.Portal>
          <BaseDialog.Backdrop data-backdrop className="fixed inset-0 z-40 bg-scrim" />
          <BaseDialog.Popup
            aria-label="Navigation"
            className="fixed inset-y-0 left-0 z-50 w-72 max-w-[85vw] bg-surface shadow-over outline-none"
          >
            <BaseDialog.Close
              aria-label="Close navigation"
              className="absolute top-3 right-3 inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover"
            >
              <X className="size-4" aria-hidden />
            </BaseDialog.Close>
            <Sidebar
              onSearch={() => {
                setOpen(false);
                onSearch();
              }}
              onHelp={() => {
                setOpen(false);
                onHelp();
              }}
            />
          </BaseDialog.Popup>
        </BaseDialog.Portal>
      </BaseDialog.Root>
    </div>
  );
}
