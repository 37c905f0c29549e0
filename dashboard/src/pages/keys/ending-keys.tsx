import { usePlace } from "../../frame/use-place.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Time } from "../../ui/time.tsx";
import { type EndingKey, endingKeysOf } from "./key-state.ts";
import type { ApiKey } from "./queries.ts";

/** Keys that stop working soon: before they do, and not by the errors afterwards. */
export function EndingKeys({
  keys,
  onRotate,
}: {
  keys: readonly ApiKey[];
  onRotate: ((key: ApiKey) => void) | null;
}) {
  return endingKeysOf(keys, Date.now()).map((ending) => (
    <Callout key={ending.key.id} tone={ending.successor === null || ending.isStillUsed ? "warn" : "plain"}>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>
          <Name ending={ending} /> ends <Time at={ending.key.expiresAt ?? ""} as="ago" />,{" "}
          <Time at={ending.key.expiresAt ?? ""} />. <WhatThen ending={ending} />
        </p>
        {ending.successor === null && onRotate !== null && (
          <Button onClick={() => onRotate(ending.key)}>Rotate</Button>
        )}
      </div>
    </Callout>
  ));
}

function Name({ ending: { key } }: { ending: EndingKey }) {
  const { environment } = usePlace();
  return (
    <>
      <span className="font-semibold">{key.name}</span>{" "}
      <span className="font-mono text-caption">
        pur_{environment}_…{key.lastFour}
      </span>
    </>
  );
}

function WhatThen({ ending: { key, successor, isStillUsed } }: { ending: EndingKey }) {
  if (successor === null) return "Nothing replaces it yet: calls with it will be refused then.";
  if (isStillUsed) {
    return (
      <>
        …{successor.lastFour} replaces it, but something still calls with the old one: last{" "}
        <Time at={key.lastUsedAt ?? ""} as="ago" />.
      </>
    );
  }
  return `…${successor.lastFour} replaces it, and nothing has called with the old one since.`;
}
