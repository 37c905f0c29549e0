/** Repeats `work` until `stop`, which waits for the last repetition to end. */
export function startLoop(work: (round: number) => Promise<unknown>): { stop(): Promise<void> } {
  let isStopped = false;
  const ended = (async () => {
    for (let round = 0; !isStopped; round++) await work(round);
  })();
  return {
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
}
