import { useState } from "react";
import { momentText, readMoment } from "../../words/moments.ts";
import { useClock } from "../preferences.ts";

export type Moments = { readonly from: string; readonly to: string };

/** Two moments as they are typed, by the clock that was chosen. `read` is null as long as they make no sense together. */
export function useTypedMoments({ from, to }: Moments) {
  const clock = useClock();
  const [typed, setTyped] = useState<Moments>({
    from: momentText(Date.parse(from), clock),
    to: momentText(Date.parse(to), clock),
  });
  const read = (texts: Moments): Moments | null => {
    const [begin, end] = [readMoment(texts.from, clock), readMoment(texts.to, clock)];
    return begin !== null && end !== null && begin < end ? { from: begin, to: end } : null;
  };
  return { clock, typed, setTyped, read };
}
