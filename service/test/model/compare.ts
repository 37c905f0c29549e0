import { isDeepStrictEqual } from "node:util";
import type { Change } from "../../src/entitlement/entry.ts";
import { newWallet } from "../../src/entitlement/wallet.ts";
import { Book } from "./book.ts";
import { type Customer, newCustomer } from "./customer.ts";
import { ask, noticed, viewOf, withRevoked } from "./model.ts";
import { isRefusal, type Request, type View } from "./request.ts";
import type { Script, ScriptStep } from "./script.ts";

export type Disagreement = { step: number; about: string; model: unknown; service: unknown };

/** Plays a script on the model and on the service's pure core. Null if their results are always equal. */
export function findDisagreement(script: Script): Disagreement | null {
  const book = new Book(script.isKnown ? newWallet(script.start) : null);
  let customer = script.isKnown ? newCustomer(script.start) : null;
  for (const [index, step] of script.steps.entries()) {
    const { found, next } = playStep(step, book, customer);
    if (found !== null) return { step: index, ...found };
    customer = next;
    const afterward = checkEveryFeature(step, book, customer);
    if (afterward !== null) return { step: index, ...afterward };
  }
  return null;
}

type Found = Omit<Disagreement, "step">;
type Played = { found: Found | null; next: Customer | null };

function playStep(step: ScriptStep, book: Book, customer: Customer | null): Played {
  const { clock, catalog, act } = step;
  switch (act.kind) {
    case "edit":
      return { found: null, next: customer };
    case "block":
      book.block(act.isBlocked);
      return { found: null, next: customer && { ...customer, isBlocked: act.isBlocked } };
    case "notice": {
      const next = noticed(catalog, customer, clock);
      const change = book.notice(catalog, clock);
      const found = differ("what is due", views(next, book, change));
      return { found, next: change === null ? customer : next };
    }
    case "ask":
      if (!book.has(act.request)) return { found: null, next: customer };
      return playRequest(step, act, book, customer);
  }
}

function playRequest(
  { clock, catalog }: ScriptStep,
  { request, isCheck }: { request: Request; isCheck: boolean },
  book: Book,
  customer: Customer | null,
): Played {
  const model = ask(catalog, customer, request, clock);
  const { answer, change } = isCheck
    ? book.ask(catalog, request, clock)
    : book.commit(catalog, request, clock);
  const answers = { model: model.answer, service: answer };
  const found =
    differ("the answer", answers) ??
    (isRefusal(answer) ? null : differ("the wallet", views(model.customer, book, change)));
  // A wallet that is not written keeps its time. The revocation of a spent grant is not stored in the wallet.
  const unwritten = answer.kind === "revoked" ? withRevoked(customer, request) : customer;
  return { found, next: isCheck ? customer : change === null ? unwritten : model.customer };
}

/** After a step, compares checks of each feature and of all features in one request. */
function checkEveryFeature(step: ScriptStep, book: Book, customer: Customer | null): Found | null {
  const now = noticed(step.catalog, customer, step.clock);
  const all = [...step.catalog.features.keys()].map((feature) => ({ feature, quantity: 1 }));
  for (const items of [...all.map((item) => [item]), all]) {
    const request: Request = { kind: "decide", items };
    const { answer: model } = ask(step.catalog, now, request, step.clock);
    const { answer: service } = book.ask(step.catalog, request, step.clock);
    const about = items.map(({ feature }) => feature).join(" and ");
    const found = differ(`a check of ${about} afterward`, { model, service });
    if (found !== null) return found;
  }
  return null;
}

const NOTHING: View = {
  decidedAt: 0,
  planAsOf: null,
  plan: null,
  next: null,
  overrides: null,
  grants: [],
  holds: [],
};

/** The visible states to compare. Without a change nothing was due, so the decision time is ignored. */
function views(customer: Customer | null, book: Book, change: Change | null): Omit<Found, "about"> {
  const timed = (view: View): View => (change === null ? { ...view, decidedAt: 0 } : view);
  return {
    model: timed(customer === null ? NOTHING : viewOf(customer)),
    service: timed(book.view(change)),
  };
}

function differ(about: string, { model, service }: Omit<Found, "about">): Found | null {
  return isDeepStrictEqual(model, service) ? null : { about, model, service };
}
