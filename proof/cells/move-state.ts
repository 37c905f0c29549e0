/**
 * Moving a project between two databases while it is in use. Each database has a gate for the project. A writer takes a shared lock,
 * reads the gate in a statement of its own, and writes only if the gate is open at the epoch of its route. The mover fences the
 * source, waits once for an exclusive lock, copies the rest, and switches the route in the control plane. Each step is one
 * transaction in one database. A mover that was interrupted may continue at any later time, beside its successor.
 */

/** Mistakes that the model must find. */
export type MoveMistake =
  | "no lock"
  | "gate read before the lock"
  | "no wait for writers"
  | "switch without comparison"
  | "copy without reading the gate"
  | "epoch not compared"
  | "old route never refreshed"
  | "end of another move reported";

export type Place = "a" | "b";

export type Cell = {
  gate: "open" | "fenced" | "moved" | "arriving" | "closed";
  epoch: number;
  /** The latest attempt that has changed the gate. */
  attempt: number;
  /** The number of writers that hold the shared lock. */
  locks: number;
  rows: number[];
};

export type Writer = {
  step: "idle" | "locked" | "read" | "writing";
  place: Place;
  epoch: number;
  writes: number;
};

export type MoverStep =
  | "off"
  | "prepare"
  | "read"
  | "copy"
  | "fence"
  | "wait"
  | "read the rest"
  | "switch"
  | "open"
  | "close"
  | "finish"
  | "abort at the target"
  | "abort at the source"
  | "abort"
  | "ended";

export type Mover = {
  step: MoverStep;
  attempt: number;
  from: Place;
  /** The epoch of the project at the source. */
  epoch: number;
  rows: number[] | null;
  isLast: boolean;
};

export type MoveState = {
  control: {
    place: Place;
    epoch: number;
    from: Place;
    state: "copying" | "switched" | "done" | "aborting" | "aborted";
    attempt: number;
  };
  cells: Record<Place, Cell>;
  writers: Writer[];
  movers: Mover[];
  acknowledged: number[];
  written: number;
  aborts: number;
  crashes: number;
  /** Moves that are still to come: back, or the same again after an abort. */
  returns: number;
};

export const OFF: Mover = { step: "off", attempt: 0, from: "a", epoch: 0, rows: null, isLast: false };
