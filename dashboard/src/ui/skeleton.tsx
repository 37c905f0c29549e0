/** Loading placeholder with the height of table rows. */
export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
        <div key={index} className="flex h-10 items-center gap-6 border-b border-line px-4 last:border-b-0">
          <div className="h-3 w-1/4 animate-pulse rounded bg-line" />
          <div className="h-3 w-1/3 animate-pulse rounded bg-line" />
          <div className="ml-auto h-3 w-16 animate-pulse rounded bg-line" />
        </div>
      ))}
    </div>
  );
}

export function SkeletonPage() {
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6 px-4 py-6 md:px-8">
      <div className="h-7 w-48 animate-pulse rounded bg-line" />
      <div className="rounded-lg border border-line bg-surface">
        <SkeletonRows />
      </div>
    </div>
  );
}
