// Runs one call of the TypeScript client: `driver.ts consume '{…}'`, or a stream that prints each part on a line.
import {
  check,
  consume,
  extend,
  hold,
  makeKey,
  type PurserError,
  release,
  settle,
  stream,
} from "../../../../docs/recipes/clients/purser.ts";

const [, , command = "", ...args] = process.argv;
const [first = "", second = ""] = args;

const CALLS: Readonly<Record<string, () => unknown>> = {
  key: () => makeKey(...args),
  check: () => check(JSON.parse(first)),
  consume: () => consume(JSON.parse(first)),
  hold: () => hold(JSON.parse(first)),
  extend: () => extend(first, JSON.parse(second)),
  settle: () => settle(first, JSON.parse(second)),
  release: () => release(first, JSON.parse(second)),
  stream: streamParts,
};

async function streamParts(): Promise<undefined> {
  const [customerId = "", feature = "", idempotencyKey = "", step, parts, failAfter] = args;
  const ended = await stream({ customerId, feature, idempotencyKey }, Number(step), async (use) => {
    for (let part = 1; part <= Number(parts); part++) {
      if (part > Number(failAfter)) throw new Error("the work failed");
      if (!(await use(1))) break;
      console.log(part);
    }
    return undefined;
  });
  console.error(JSON.stringify(ended));
}

try {
  const result = await CALLS[command]?.();
  if (result !== undefined) console.log(typeof result === "string" ? result : JSON.stringify(result));
} catch (error) {
  const { status, code, message } = error as PurserError;
  console.error(status, code, message);
  process.exitCode = 1;
}
