import { expect, test } from "vitest";
import { drawOrders } from "./against.ts";

test("each tree goes first in one of every two pairs, in an order that is drawn", () => {
  const random = [0.1, 0.9, 0.2][Symbol.iterator]();
  const orders = drawOrders(6, () => random.next().value ?? 0);
  expect(orders).toEqual([true, false, false, true, true, false]);
  expect(drawOrders(7, Math.random)).toHaveLength(7);
});
