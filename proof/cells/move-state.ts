/**
 * Model of moving a project between two databases while it is in use. Each database has a gate for the project. A writer takes a shared
 * lock and reads the gate in a separate statement. It writes only if the gate is open and has the same epoch as the writer's route. The
 * mover copies the rows and fences the source. It waits for an exclusive lock, copies the remaining rows, and switches the route in the
 * control plane. Each step is one transaction in one database. An interrupted mover may continue at any later time, in parallel with its
 * successor.
 */

/** Seeded bugs that the model must find. */
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
  /** Number of further moves: back to the source, or again after an abort. */
  returns: number;
};

export const OFF: Mover = { step: "off", attempt: 0, from: "a", epoch: 0, rows: null, isLast: false };
