const [POINT, DIGIT] = [0x2e, 0x30];
const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6];

/** Maximum bytes of a fraction, even with the numbers of a damaged segment. */
export const MOST_FRACTION_BYTES = 26;

/** Writes bytes and returns where they end. */
export function putBytes(into: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) into[at + index] = bytes[index] ?? 0;
  return at + bytes.length;
}

/**
 * Writes the number `integer / 10 ** decimals` (six at most) as JSON.stringify does, and returns its end. Digit by
 * digit: converting every number to text takes longer than the rest of a page.
 */
export function putFraction(into: Uint8Array, at: number, integer: number, decimals: number): number {
  const one = POWERS[decimals] ?? NaN;
  if (integer <= 0 || integer >= one) return putBytes(into, at, Buffer.from(String(integer / one)));
  let rest = integer;
  let digits = decimals;
  // Trailing zeros are not written.
  for (; rest % 10 === 0; digits -= 1) rest = (rest / 10) | 0;
  into[at] = DIGIT;
  into[at + 1] = POINT;
  for (let place = at + 1 + digits; place > at + 1; place -= 1) {
    const tenth = (rest / 10) | 0;
    into[place] = DIGIT + rest - 10 * tenth;
    rest = tenth;
  }
  return at + 2 + digits;
}
