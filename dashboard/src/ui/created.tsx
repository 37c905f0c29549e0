import { type Creator, nameOfCreator } from "../format/creator.ts";
import { Time } from "./time.tsx";

/** The day on which something was created, and by whom. Null: unknown. */
export function Created({ at, by }: { at: string; by: Creator | null }) {
  return (
    <>
      <Time at={at} as="day" />
      {by !== null && (
        <div className="max-w-40 truncate text-caption text-muted" title={nameOfCreator(by)}>
          by {nameOfCreator(by)}
        </div>
      )}
    </>
  );
}
