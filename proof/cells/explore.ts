/** A system whose steps are atomic, such as a transaction in one database. */
export type Model<State> = {
  readonly first: State;
  /** All states that one step of the system can lead to. */
  readonly next: (state: State) => Iterable<State>;
  /** All states after an event that may happen at any time, such as a crash. The system must reach its end without these events. */
  readonly disturb: (state: State) => Iterable<State>;
  /** Maps states that differ only in names to the same state, so that fewer states are visited. */
  readonly normalize: (state: State) => State;
  /** Why the state must not occur. Null if it is valid. */
  readonly problemOf: (state: State) => string | null;
  /** The end that the system must be able to reach from every state if nothing disturbs it. */
  readonly end: { readonly isReached: (state: State) => boolean; readonly problem: string };
};

export type Explored<State> = {
  readonly states: number;
  readonly problem: string | null;
  /** The states that lead to the problem, for debugging. */
  readonly path: readonly State[];
};

const STATES_MAX = 5_000_000;

/** Visits every reachable state until a state has a problem. */
export function explore<State extends object>(model: Model<State>): Explored<State> {
  const numbers = new Map<string, number>();
  const keys: string[] = [];
  const cameFrom: number[] = [];
  const steps = new Steps();
  const ends: number[] = [];
  const waiting: { readonly state: State; readonly number: number }[] = [];
  const numberOf = (next: State, from: number): number => {
    const state = model.normalize(next);
    const key = JSON.stringify(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = keys.push(key) - 1;
    if (number >= STATES_MAX) throw new Error("the model has too many states");
    numbers.set(key, number);
    cameFrom.push(from);
    waiting.push({ state, number });
    return number;
  };
  const found = (problem: string, number: number): Explored<State> => {
    const path: State[] = [];
    for (let at = number; at >= 0; at = cameFrom[at] ?? -1) path.unshift(JSON.parse(keys[at] ?? ""));
    return { states: keys.length, problem, path };
  };
  numberOf(model.first, -1);
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { state, number } = visit;
    const problem = model.problemOf(state);
    if (problem !== null) return found(problem, number);
    if (model.end.isReached(state)) ends.push(number);
    for (const next of model.next(state)) steps.add(number, numberOf(next, number));
    for (const next of model.disturb(state)) numberOf(next, number);
  }
  const stuck = steps.reaching(ends, keys.length).indexOf(0);
  return stuck < 0 ? { states: keys.length, problem: null, path: [] } : found(model.end.problem, stuck);
}

/** For each state, a linked list of the steps that lead to it. Millions of small arrays would need too much memory. */
class Steps {
  readonly #from: number[] = [];
  readonly #earlier: number[] = [];
  readonly #latest: number[] = [];

  add(from: number, to: number): void {
    this.#earlier.push(this.#latest[to] ?? -1);
    this.#latest[to] = this.#from.push(from) - 1;
  }

  /** 1 for each state from which one of the ends can be reached, otherwise 0. */
  reaching(ends: readonly number[], states: number): Uint8Array {
    const reaches = new Uint8Array(states);
    const waiting = [...ends];
    for (let to = waiting.pop(); to !== undefined; to = waiting.pop()) {
      if (reaches[to] === 1) continue;
      reaches[to] = 1;
      for (let step = this.#latest[to] ?? -1; step >= 0; step = this.#earlier[step] ?? -1)
        waiting.push(this.#from[step] ?? to);
    }
    return reaches;
  }
}

/** Returns a copy of the state with this change. The state must be plain JSON. */
export function after<State extends object>(state: State, change: (copy: State) => void): State {
  const copy: State = JSON.parse(textOf(state));
  change(copy);
  return copy;
}

let latest: { readonly state: object; readonly text: string } | null = null;

/** Caches the text of the last state, because it is copied for each of its next states. States never change after they are returned. */
function textOf(state: object): string {
  if (latest?.state !== state) latest = { state, text: JSON.stringify(state) };
  return latest.text;
}
