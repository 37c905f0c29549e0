import { allowanceInWords, costInWords, limitInWords } from "../../words/terms.ts";
import {
  type DraftTerms,
  diffTerms,
  type PinnedFeature,
  type PoolAllowance,
  pinTerms,
  type TermsDiff,
} from "./plan-terms.ts";
import type { Feature, Plan } from "./queries.ts";

/** One thing that changes, in a sentence; better or worse is for who reads it to judge. */
export type Sentence = { readonly kind: "added" | "removed" | "changed"; readonly text: string };

/** What keys are called. */
export type Names = {
  readonly feature: (key: string) => { readonly name: string; readonly unit: string | null };
  /** Null where there is one pool, and which it is goes without saying. */
  readonly pool: (key: string) => string | null;
};

export function sentencesOf(diff: TermsDiff, names: Names): Sentence[] {
  const { allowances, features, limits, costs } = diff;
  const given = (allowance: PoolAllowance): string => {
    const pool = names.pool(allowance.pool);
    return pool === null ? allowanceInWords(allowance) : `${allowanceInWords(allowance)} in ${pool}`;
  };
  return [
    ...allowances.changed.map(({ before, after }) =>
      changed(`The plan gives ${given(after)} instead of ${given(before)}.`),
    ),
    ...allowances.added.map((allowance) => added(`The plan gives ${given(allowance)}.`)),
    ...allowances.removed.map((allowance) => removed(`The plan no longer gives ${given(allowance)}.`)),
    ...features.added.map((terms) => added(`${includeInWords(terms, names)}.`)),
    ...features.removed.map(({ feature }) =>
      removed(`${names.feature(feature).name} is no longer included.`),
    ),
    ...costs.map(({ feature, before, after }) => {
      const { name, unit } = names.feature(feature);
      const [was, is] = [pricedInWords(before, unit, names), pricedInWords(after, unit, names)];
      return changed(`${name} costs ${is} instead of ${was}.`);
    }),
    ...limits.map(({ feature, before, after }) => {
      const { name, unit } = names.feature(feature);
      if (before === null) return changed(`${name} gets a limit: ${limitInWords(after, unit)}.`);
      return changed(`${name}: ${limitInWords(after, unit)} instead of ${limitInWords(before, unit)}.`);
    }),
  ];
}

/** A draft against what is in force; the name is part of it. */
export function draftSentences(
  { name, versions }: Plan,
  draft: DraftTerms,
  { names, features }: { readonly names: Names; readonly features: readonly Feature[] },
): Sentence[] {
  const [latest = null] = versions;
  const isRenamed = latest !== null && draft.name !== "" && draft.name !== name;
  return [
    ...(isRenamed ? [renamed({ before: name, after: draft.name })] : []),
    ...sentencesOf(diffTerms(latest, pinTerms(draft, features)), names),
  ];
}

export function renamed({ before, after }: { readonly before: string; readonly after: string }): Sentence {
  return changed(`The plan is called ${after} instead of ${before}.`);
}

function includeInWords({ feature, limit, ...priced }: PinnedFeature, names: Names): string {
  const { name, unit } = names.feature(feature);
  const terms = [pricedInWords(priced, unit, names), ...(limit === null ? [] : [limitInWords(limit, unit)])];
  return `${name} is included: ${terms.join(", ")}`;
}

type Priced = Pick<PinnedFeature, "pool" | "cost">;

function pricedInWords({ pool, cost }: Priced, unit: string | null, names: Names): string {
  const name = names.pool(pool);
  const price = costInWords(cost, unit);
  return name === null || cost.credits === 0 ? price : `${price} from ${name}`;
}

const added = (text: string): Sentence => ({ kind: "added", text });
const removed = (text: string): Sentence => ({ kind: "removed", text });
const changed = (text: string): Sentence => ({ kind: "changed", text });
