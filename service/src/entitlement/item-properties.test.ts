import { expect, test } from "vitest";
import { HISTORIES, HISTORIES_TIMEOUT_MS } from "../../test/effort.ts";
import type { Book } from "../../test/model/book.ts";
import { forEveryHistory } from "../../test/model/for-every-history.ts";
import { play } from "../../test/model/play.ts";
import type { Asked, Request } from "../../test/model/request.ts";
import type { ScriptStep } from "../../test/model/script.ts";
import type { Entry } from "./entry.ts";

const RUNS = Math.ceil(HISTORIES / 5);

/** Calls `check` before every step with a request of this kind, on all histories. */
function beforeEvery<Kind extends Request["kind"]>(
  kind: Kind,
  name: string,
  check: (book: Book, request: Asked<Kind>, step: ScriptStep) => void,
): void {
  const isKind = (request: Request): request is Asked<Kind> => request.kind === kind;
  test(name, { timeout: HISTORIES_TIMEOUT_MS }, () =>
    forEveryHistory(RUNS, (script) => {
      play(script, {
        before: (book, step) => {
          const { act } = step;
          if (act.kind === "ask" && isKind(act.request) && book.has(act.request))
            check(book, act.request, step);
        },
      });
    }),
  );
}

beforeEvery(
  "decide",
  "items are charged like separate requests; if any item would be denied, the whole request is denied for the first reason",
  (book, request, { catalog, clock }) => {
    const [together, apart] = [book.copy(), book.copy()];
    const { answer } = together.commit(catalog, request, clock);
    const each = request.items.map(
      (item) => apart.commit(catalog, { kind: "decide", items: [item] }, clock).answer,
    );
    const deniedItem = each.findIndex((one) => one.kind === "decided" && !one.allowed);
    const denied = each[deniedItem];
    if (denied?.kind === "decided") {
      const { reason, affordableQuantity } = denied;
      expect(answer).toMatchObject({ allowed: false, reason, deniedItem, affordableQuantity });
      const charges = ({ entries }: Book) => entries.filter((entry) => entry.usage && entry.hold === null);
      expect(charges(together)).toEqual(charges(book));
      return;
    }
    expect(answer).toMatchObject({ allowed: true, reason: null, deniedItem: null, affordableQuantity: null });
    expect(together.wallet).toEqual(apart.wallet);
    expect(together.entries.map(withoutPlace)).toEqual(apart.entries.map(withoutPlace));
  },
);

beforeEvery(
  "decide",
  "a denied request with items writes only due changes",
  (book, request, { catalog, clock }) => {
    const [denied, blocked] = [book.copy(), book.copy()];
    const { answer } = denied.commit(catalog, request, clock);
    if (answer.kind !== "decided" || answer.allowed || book.wallet === null) return;
    blocked.block(true);
    blocked.commit(catalog, request, clock);
    blocked.block(book.wallet.isBlocked);
    expect(denied).toEqual(blocked);
  },
);

beforeEvery(
  "decide",
  "the affordable quantity of the denied item is allowed, but one more unit is not",
  (book, { items }, { catalog, clock }) => {
    const { answer } = book.ask(catalog, { kind: "decide", items }, clock);
    if (answer.kind !== "decided" || answer.deniedItem === null || answer.affordableQuantity === null) return;
    const { deniedItem, affordableQuantity } = answer;
    const retry = (quantity: number) => {
      const changed = items.slice(0, deniedItem + 1).with(-1, { ...getItem(items, deniedItem), quantity });
      return book.ask(catalog, { kind: "decide", items: changed }, clock).answer;
    };
    if (affordableQuantity > 0) expect(retry(affordableQuantity)).toMatchObject({ allowed: true });
    expect(retry(affordableQuantity + 1)).toMatchObject({ allowed: false, deniedItem });
  },
);

beforeEvery(
  "decide",
  "the charges of a request are consecutive entries, and a single charge has no position",
  (book, { items }, { catalog, clock }) => {
    const { answer, change } = book.ask(catalog, { kind: "decide", items }, clock);
    if (answer.kind !== "decided" || !answer.allowed) return;
    const of = items.length;
    expect(
      change?.entries.slice(-of).map(({ kind, usage }) => [kind, usage?.quantity, usage?.place]),
    ).toEqual(items.map(({ quantity }, index) => ["consume", quantity, of === 1 ? null : { index, of }]));
  },
);

beforeEvery(
  "reverse_request",
  "reversing a request reverses all of its charges in order, or none of them",
  (book, { consume }, { catalog, clock }) => {
    const { index, of } = book.consumes()[consume]?.usage.place ?? { index: 0, of: 1 };
    const [together, apart] = [book.copy(), book.copy()];
    const { answer } = together.commit(catalog, { kind: "reverse_request", consume }, clock);
    const each = Array.from({ length: of }, (_, item) => {
      const charge = { kind: "reverse", consume: consume - index + item, quantity: null } as const;
      return apart.commit(catalog, charge, clock).answer;
    });
    const reversed = each.flatMap((one) => (one.kind === "reversed" ? one.items : []));
    const isRefused = each.some(({ kind }) => kind === "balance_too_large");
    if (isRefused || reversed.length === 0) {
      expect(answer).toEqual({ kind: isRefused ? "balance_too_large" : "nothing_left" });
      expect(together).toEqual(book);
      return;
    }
    expect(answer).toMatchObject({ kind: "reversed", items: reversed });
    expect(together).toEqual(apart);
  },
);

function withoutPlace({ usage, ...entry }: Entry): unknown {
  return { ...entry, usage: usage === null ? null : { ...usage, place: null } };
}

function getItem<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error("the item does not exist");
  return item;
}
