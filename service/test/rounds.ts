/** How often a race is run: seldom by default, and as often as `RACE_ROUNDS` says for whoever has the time. */
export function rounds(normal: number): readonly number[] {
  const given = process.env["RACE_ROUNDS"];
  return Array.from({ length: given === undefined ? normal : Number(given) }, (_, round) => round);
}
