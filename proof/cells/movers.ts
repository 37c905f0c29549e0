import { after } from "./explore.ts";
import {
  type Cell,
  type MoveMistake,
  type Mover,
  type MoverStep,
  type MoveState,
  OFF,
  type Place,
} from "./move-state.ts";

const other = (place: Place): Place => (place === "a" ? "b" : "a");

const MAY_ABORT: ReadonlySet<MoverStep> = new Set([
  "read",
  "copy",
  "fence",
  "wait",
  "read the rest",
  "switch",
]);

/** The possible next steps of a mover. */
export function* moverSteps(state: MoveState, index: number, mistake: MoveMistake | undefined) {
  const mover = state.movers[index];
  if (mover === undefined) return;
  const { control } = state;
  const go = (change: (copy: MoveState, own: Mover) => void): MoveState =>
    after(state, (copy) => {
      const own = copy.movers[index];
      if (own !== undefined) change(copy, own);
    });
  const step = STEPS[mover.step];
  if (mover.step === "off") {
    if (control.state !== "done" && control.state !== "aborted") yield go((copy, own) => begin(copy, own));
  } else if (step !== undefined) {
    const isReady = mover.step !== "wait" || state.cells[mover.from].locks === 0;
    if (isReady) yield go((copy, own) => step(copy, own, mistake));
  }
}

/** Events that interrupt a mover: a crash and a requested abort. */
export function* moverDisturbances(state: MoveState, index: number) {
  const mover = state.movers[index];
  if (mover === undefined) return;
  const { control } = state;
  if (mover.step !== "off" && mover.step !== "ended" && state.crashes > 0)
    yield after(state, (copy) => {
      copy.movers[index] = OFF;
      copy.crashes -= 1;
    });
  const isCurrent = control.state === "copying" && control.attempt === mover.attempt;
  if (state.aborts > 0 && MAY_ABORT.has(mover.step) && isCurrent)
    yield after(state, (copy) => {
      const attempt = control.attempt + 1;
      copy.control = { ...control, state: "aborting", attempt };
      copy.movers[index] = { ...mover, step: "abort at the target", attempt, rows: null };
      copy.aborts -= 1;
    });
}

/** Starts a mover, which continues from the state in the control plane. */
function begin({ control }: MoveState, own: Mover): void {
  control.attempt += 1;
  own.attempt = control.attempt;
  own.from = control.from;
  own.epoch = control.state === "switched" ? control.epoch - 1 : control.epoch;
  own.step =
    control.state === "switched" ? "open" : control.state === "aborting" ? "abort at the target" : "prepare";
}

type Change = (copy: MoveState, own: Mover, mistake: MoveMistake | undefined) => void;

const STEPS: Partial<Record<MoverStep, Change>> = {
  prepare({ cells }, own) {
    const target = cells[other(own.from)];
    if (target.attempt > own.attempt) return end(own);
    target.attempt = own.attempt;
    if (target.gate !== "arriving")
      Object.assign(target, { gate: "arriving", epoch: own.epoch + 1, rows: [] });
    own.step = "read";
  },
  read({ cells }, own) {
    own.rows = [...cells[own.from].rows];
    own.step = "copy";
  },
  copy({ cells }, own, mistake) {
    const target = cells[other(own.from)];
    const isMine = target.gate === "arriving" && target.attempt === own.attempt;
    if (!isMine && mistake !== "copy without reading the gate") return end(own);
    target.rows = own.rows ?? [];
    own.rows = null;
    own.step = own.isLast ? "switch" : "fence";
  },
  fence({ cells }, own, mistake) {
    const source = cells[own.from];
    if (source.attempt > own.attempt) return end(own);
    source.attempt = own.attempt;
    if (source.gate === "open" && source.epoch === own.epoch) source.gate = "fenced";
    own.step = mistake === "no wait for writers" ? "read the rest" : "wait";
  },
  wait(_, own) {
    own.step = "read the rest";
  },
  "read the rest"({ cells }, own) {
    const source = cells[own.from];
    if (source.gate !== "fenced" || source.attempt !== own.attempt) return end(own);
    own.rows = [...source.rows];
    own.isLast = true;
    own.step = "copy";
  },
  switch({ control }, own, mistake) {
    const isMine = control.attempt === own.attempt && control.state === "copying";
    if (!isMine && mistake !== "switch without comparison") return end(own);
    Object.assign(control, { state: "switched", place: other(own.from), epoch: own.epoch + 1 });
    own.step = "open";
  },
  open({ cells }, own, mistake) {
    changeGate(cells[other(own.from)], { from: "arriving", to: "open", epoch: own.epoch + 1 }, mistake);
    own.step = "close";
  },
  close({ cells }, own, mistake) {
    changeGate(cells[own.from], { from: "fenced", to: "moved", epoch: own.epoch }, mistake);
    own.step = "finish";
  },
  finish({ control }, own, mistake) {
    const isMine = control.epoch === own.epoch + 1 || mistake === "end of another move reported";
    if (control.state === "switched" && control.from === own.from && isMine) control.state = "done";
    end(own);
  },
  "abort at the target"({ cells }, own) {
    const target = cells[other(own.from)];
    if (target.attempt <= own.attempt) {
      target.attempt = own.attempt;
      target.gate = "closed";
    }
    own.step = "abort at the source";
  },
  "abort at the source"({ cells }, own) {
    const source = cells[own.from];
    if (source.attempt <= own.attempt) {
      source.attempt = own.attempt;
      if (source.gate === "fenced") source.gate = "open";
    }
    own.step = "abort";
  },
  abort({ control }, own) {
    if (control.attempt === own.attempt && control.state === "aborting") control.state = "aborted";
    end(own);
  },
};

/** After a move back, the gate has a higher epoch, so that a mover that was interrupted earlier cannot change it. */
function changeGate(
  cell: Cell,
  { from, to, epoch }: { from: Cell["gate"]; to: Cell["gate"]; epoch: number },
  mistake: MoveMistake | undefined,
): void {
  if (mistake === "epoch not compared" || (cell.gate === from && cell.epoch === epoch)) cell.gate = to;
}

function end(own: Mover): void {
  Object.assign(own, { ...OFF, step: "ended" });
}
