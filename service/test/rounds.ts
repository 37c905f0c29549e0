/** How often a race is repeated. `RACE_ROUNDS` overrides the number. */
export function rounds(normal: number): readonly number[] {
  const given = process.env["RACE_ROUNDS"];
  return Array.from({ length: given === undefined ? normal : Number(given) }, (_, round) => round);
}
