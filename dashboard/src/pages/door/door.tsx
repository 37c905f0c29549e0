import type { ReactNode } from "react";
import { useTabTitle } from "../../ui/tab-title.ts";

/** The pages before the frame: one card, nothing else. */
export function Door({ title, note, children }: { title: string; note?: ReactNode; children: ReactNode }) {
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
