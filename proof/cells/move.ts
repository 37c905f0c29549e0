import { after, type Model } from "./explore.ts";
import { type Cell, type MoveMistake, type MoveState, OFF, type Writer } from "./move-state.ts";
import { moverDisturbances, moverSteps } from "./movers.ts";

export function moveModel({
  writers,
  writes,
  movers,
  aborts,
  crashes,
  returns = 0,
  mistake,
}: {
  readonly writers: number;
  readonly writes: number;
  readonly movers: number;
  readonly aborts: number;
  readonly crashes: number;
  readonly returns?: number;
  readonly mistake?: MoveMistake;
}): Model<MoveState> {
  return {
    first: {
      control: { place: "a", epoch: 0, from: "a", state: "copying", attempt: 0 },
      cells: {
        a: { gate: "open", epoch: 0, attempt: 0, locks: 0, rows: [] },
        b: { gate: "closed", epoch: 0, attempt: 0, locks: 0, rows: [] },
      },
      writers: Array.from({ length: writers }, () => ({ step: "idle", place: "a", epoch: 0, writes })),
      movers: Array.from({ length: movers }, () => OFF),
      acknowledged: [],
      written: 0,
      aborts,
      crashes,
      returns,
    },
    *next(state) {
      for (const index of state.writers.keys()) yield* writerSteps(state, index, mistake);
      for (const index of state.movers.keys()) yield* moverSteps(state, index, mistake);
    },
    *disturb(state) {
      for (const index of state.movers.keys()) yield* moverDisturbances(state, index);
      const { control } = state;
      if ((control.state === "done" || control.state === "aborted") && state.returns > 0)
        yield after(state, (copy) => {
          copy.control = { ...control, from: control.place, state: "copying", attempt: control.attempt + 1 };
          copy.returns -= 1;
          copy.movers = copy.movers.map((mover) => (mover.step === "ended" ? OFF : mover));
        });
    },
    normalize: (state) => ({
      ...state,
      // Writers are interchangeable. Two running movers have different attempts.
      writers: state.writers.map(withoutRouteAtEnd).sort((a, b) => compare(nameOf(a), nameOf(b))),
      movers: [...state.movers].sort((a, b) => a.attempt - b.attempt || compare(a.step, b.step)),
    }),
    problemOf({ cells, control, acknowledged }) {
      const { rows } = cells[control.place];
      if (acknowledged.some((id) => rows.filter((row) => row === id).length !== 1))
        return "an acknowledged write is lost or duplicated";
      return cells.a.gate === "open" && cells.b.gate === "open" ? "both gates are open" : null;
    },
    end: { isReached: hasEnded, problem: "some writes can never end" },
  };
}

/** All writes and movers have ended, and the next write would be accepted. */
function hasEnded({ writers, movers, control, cells }: MoveState): boolean {
  const own = cells[control.place];
  const { gate } = cells[control.place === "a" ? "b" : "a"];
  return (
    writers.every(({ writes }) => writes === 0) &&
    movers.every(({ step }) => step === "off" || step === "ended") &&
    (control.state === "done" || control.state === "aborted") &&
    own.gate === "open" &&
    own.epoch === control.epoch &&
    (gate === "moved" || gate === "closed")
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const nameOf = ({ step, place, epoch, writes }: Writer): string => `${step} ${place} ${epoch} ${writes}`;

/** Removes a writer's route after its last write, when the route has no effect. */
function withoutRouteAtEnd(writer: Writer): Writer {
  return writer.writes === 0 ? { ...writer, place: "a", epoch: 0 } : writer;
}

function* writerSteps(state: MoveState, index: number, mistake: MoveMistake | undefined) {
  const writer = state.writers[index];
  if (writer === undefined) return;
  const go = (change: (own: Writer, cell: Cell, copy: MoveState) => void): MoveState =>
    after(state, (copy) => {
      const own = copy.writers[index];
      if (own !== undefined) change(own, copy.cells[own.place], copy);
    });
  const lock = (cell: Cell): void => {
    if (mistake !== "no lock") cell.locks += 1;
  };
  const unlock = (cell: Cell): void => {
    if (mistake !== "no lock") cell.locks -= 1;
  };
  const isOpen = (own: Writer, cell: Cell): boolean =>
    cell.gate === "open" && (mistake === "epoch not compared" || cell.epoch === own.epoch);
  // Nobody gets a shared lock while a mover waits for the exclusive lock.
  const mayLock =
    mistake === "no lock" || !state.movers.some(({ step, from }) => step === "wait" && from === writer.place);
  const isEarly = mistake === "gate read before the lock";
  const { control } = state;
  if (writer.step === "idle" && writer.writes > 0) {
    if (isEarly)
      yield go((own, cell) => {
        if (isOpen(own, cell)) own.step = "read";
      });
    else if (mayLock)
      yield go((own, cell) => {
        lock(cell);
        own.step = "locked";
      });
    // An old route can be used as long as its gate accepts it.
    const isOld = writer.place !== control.place || writer.epoch !== control.epoch;
    if (isOld && mistake !== "old route never refreshed")
      yield go((own) => {
        own.place = control.place;
        own.epoch = control.epoch;
      });
  }
  if (writer.step === "read" && mayLock)
    yield go((own, cell) => {
      lock(cell);
      own.step = "writing";
    });
  if (writer.step === "locked")
    yield go((own, cell) => {
      own.step = isOpen(own, cell) ? "writing" : "idle";
      if (own.step === "idle") unlock(cell);
    });
  if (writer.step === "writing")
    yield go((own, cell, copy) => {
      copy.written += 1;
      cell.rows = [...cell.rows, copy.written].sort((a, b) => a - b);
      copy.acknowledged = [...copy.acknowledged, copy.written].sort((a, b) => a - b);
      own.step = "idle";
      own.writes -= 1;
      unlock(cell);
    });
}
