/** A system whose steps are atomic, such as a transaction in one database. */
export type Model<State> = {
  readonly first: State;
  /** All states that one step can lead to. */
  readonly next: (state: State) => Iterable<State>;
  /** Why the state must not be reached. Null if it is sound. */
  readonly problemOf: (state: State) => string | null;
  /** Why the system must not stop in this state, from which no step is possible. */
  readonly stuckProblemOf?: (state: State) => string | null;
};

export type Explored<State> = {
  readonly states: number;
  readonly problem: string | null;
  /** The steps to the problem, for an investigation. */
  readonly path: readonly State[];
};

const STATES_MAX = 5_000_000;

/** Visits every state that can be reached, until one has a problem. */
export function explore<State extends object>(model: Model<State>): Explored<State> {
  const { first, next, problemOf, stuckProblemOf = () => null } = model;
  const cameFrom = new Map<string, { readonly state: State; readonly from: string | null }>();
  const waiting: (readonly [State, string | null])[] = [[first, null]];
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    const [state, from] = step;
    const key = JSON.stringify(state);
    if (cameFrom.has(key)) continue;
    cameFrom.set(key, { state, from });
    const following = [...next(state)];
    const problem = problemOf(state) ?? (following.length === 0 ? stuckProblemOf(state) : null);
    if (problem !== null) return { states: cameFrom.size, problem, path: pathTo(key, cameFrom) };
    if (cameFrom.size > STATES_MAX) throw new Error("the model has too many states");
    for (const state of following) waiting.push([state, key]);
  }
  return { states: cameFrom.size, problem: null, path: [] };
}

function pathTo<State>(
  end: string,
  cameFrom: ReadonlyMap<string, { readonly state: State; readonly from: string | null }>,
): State[] {
  const path: State[] = [];
  for (let key: string | null = end; key !== null; ) {
    const step = cameFrom.get(key);
    if (step === undefined) break;
    path.unshift(step.state);
    key = step.from;
  }
  return path;
}

/** A copy of the state with this change, as one step. The state must be plain JSON, which is copied faster this way. */
export function after<State>(state: State, change: (copy: State) => void): State {
  const copy: State = JSON.parse(JSON.stringify(state));
  change(copy);
  return copy;
}
