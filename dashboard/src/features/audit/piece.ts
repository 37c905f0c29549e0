import type { Entry } from "./entry.ts";

/** Part of a sentence that follows the actor's name. */
export type Piece =
  | {
      /** The text of a plan, feature or pool is its key. `customer` is the entry's customer. */
      readonly kind: "text" | "strong" | "customer" | "plan" | "feature" | "pool";
      readonly text: string;
    }
  | { readonly kind: "other customer"; readonly text: string; readonly customerId: string };

export type Describe = (entry: Entry) => readonly (Piece | string)[];

export const strong = (text: string): Piece => ({ kind: "strong", text });
export const subject = ({ subject: text }: Entry): Piece => strong(text);
