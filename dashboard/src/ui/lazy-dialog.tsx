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
