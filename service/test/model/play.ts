import type { Change } from "../../src/entitlement/entry.ts";
import { newWallet } from "../../src/entitlement/wallet.ts";
import { Book } from "./book.ts";
import type { Answer } from "./request.ts";
import type { Script, ScriptStep } from "./script.ts";

/** The response to a step and the change it made, if any. */
export type Played = { answer: Answer | null; change: Change | null };

export type Visitor = {
  /** Called before the step. */
  before?: (book: Book, step: ScriptStep) => void;
  after?: (book: Book, step: ScriptStep, played: Played) => void;
};

/** Plays a script on the service's pure core alone. */
export function play(script: Script, { before, after }: Visitor): Book {
  const book = startBook(script);
  for (const step of script.steps) {
    before?.(book, step);
    const played = playStep(book, step);
    after?.(book, step, played);
  }
  return book;
}

export function startBook({ isKnown, start }: Script): Book {
  return new Book(isKnown ? newWallet(start) : null);
}

export function playStep(book: Book, { clock, catalog, act }: ScriptStep): Played {
  switch (act.kind) {
    case "edit":
      return { answer: null, change: null };
    case "block":
      book.block(act.isBlocked);
      return { answer: null, change: null };
    case "notice":
      return { answer: null, change: book.notice(catalog, clock) };
    case "ask":
      if (!book.has(act.request)) return { answer: null, change: null };
      if (act.isCheck) return { answer: book.ask(catalog, act.request, clock).answer, change: null };
      return book.commit(catalog, act.request, clock);
  }
}
