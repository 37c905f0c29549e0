import { Problem } from "../../edge/problem.ts";

export type CatalogNoun = "pool" | "feature" | "plan";

/** A key in a body that the catalog lacks or has archived. */
export function unknownKey({ noun, key }: { noun: CatalogNoun; key: string }): Problem {
  return new Problem("unknown_key", { detail: `There is no ${noun} \`${key}\` in this environment.` });
}

/** A key in the path that the catalog lacks. */
export function missing(noun: CatalogNoun): Problem {
  return new Problem("not_found", { detail: `There is no such ${noun} in this environment.` });
}

export function stillDefault(key: string): Problem {
  return new Problem("in_use", {
    detail: `The plan \`${key}\` is the default plan of this environment. Choose another default plan before you archive it.`,
  });
}
