import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Time } from "../../ui/time.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { monthAfter, nameOfMonth } from "./month-search.ts";
import { type Month, monthQuery } from "./queries.ts";
import { addsUp, follows, rollForward } from "./roll-forward.ts";

type State = "sound" | "wrong" | "open";

/** What was looked at before anybody signs these figures. */
export function MonthChecks({ month }: { month: Month }) {
  const isSound = rollForward(month.lines).every(({ amounts }) => addsUp(amounts));
  const isCut = month.from > `${month.month}-01T00:00:00.000Z`;
  return (
    <Card title="Checks">
      <ul className="flex flex-col gap-2">
        <Check state={isSound ? "sound" : "wrong"}>
          {isSound
            ? "Every line adds up: opening + granted − used − expired − revoked + reversed = closing."
            : "A line does not add up. Run purser verify, which names the wallet."}
        </Check>
        <Before month={month} isCut={isCut} />
        <Finality month={month} isCut={isCut} />
      </ul>
      {isCut && month.windowStart !== null && (
        <div className="pt-4">
          <WindowEdge windowStart={month.windowStart}>
            This month's opening is what there was at that moment.
          </WindowEdge>
        </div>
      )}
    </Card>
  );
}

function Before({ month, isCut }: { month: Month; isCut: boolean }) {
  const before = monthAfter(month.month, -1);
  const { data, error } = useQuery({ ...monthQuery(usePlace(), before), enabled: !isCut });
  const name = nameOfMonth(before);
  if (isCut)
    return <Check state="open">{name} lies before the history window, so nothing is compared.</Check>;
  if (error !== null) return <Check state="open">{name} could not be read, so nothing is compared.</Check>;
  if (data === undefined) return <Check state="open">Reading {name} to compare.</Check>;
  return follows(month, data) ? (
    <Check state="sound">The opening is the closing of {name}, for every pool and kind.</Check>
  ) : (
    <Check state="wrong">The opening is not the closing of {name}.</Check>
  );
}

function Finality({ month: { isFinal, completeTo, to }, isCut }: { month: Month; isCut: boolean }) {
  if (isFinal) return <Check state="sound">The month is over and its figures are final.</Check>;
  if (isCut && completeTo === to)
    return <Check state="open">Your history begins within the month, so these figures move with it.</Check>;
  return (
    <Check state="open">
      Complete to <Time at={completeTo} />. What fell due later, an expiry or new plan credits of somebody who
      was not seen since, is counted as if they were seen now.
    </Check>
  );
}

const LOOKS = {
  sound: { icon: CircleCheck, ink: "text-good", words: "Checked" },
  wrong: { icon: CircleAlert, ink: "text-bad", words: "Wrong" },
  open: { icon: CircleDashed, ink: "text-muted", words: "Open" },
} as const satisfies Record<State, unknown>;

function Check({ state, children }: { state: State; children: ReactNode }) {
  const { icon: Icon, ink, words } = LOOKS[state];
  return (
    <li className="flex gap-2">
      <Icon className={classNames("mt-0.5 size-4 shrink-0", ink)} aria-hidden />
      <span>
        <span className="sr-only">{words}: </span>
        {children}
      </span>
    </li>
  );
}
