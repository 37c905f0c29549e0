import { type ComponentType, lazy, Suspense } from "react";

/** A dialog whose code is loaded when it is first opened, so that the page itself is shown sooner. */
export function lazyDialog<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const Dialog = lazy(async () => ({ default: await load() }));
  return (props) => (
    <Suspense>
      <Dialog {...props} />
    </Suspense>
  );
}

const IDLE_MAX_MS = 2_000;

/** A chart whose code is loaded after the rest of the page. Render it in a `Suspense` that reserves its size. */
export function lazyChart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return lazy(async () => {
    await new Promise<void>(waitUntilIdle);
    return { default: await load() };
  });
}

/** Safari has no `requestIdleCallback`. */
function waitUntilIdle(resolve: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(resolve, { timeout: IDLE_MAX_MS });
  else setTimeout(resolve, 0);
}
