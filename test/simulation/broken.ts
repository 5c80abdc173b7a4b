/** A promise to callers that a schedule has broken. */
export class Broken extends Error {}

export const brokenBy = (what: string) => new Broken(what);

/** @throws Broken unless it holds */
export function promise(what: string, holds: boolean): void {
  if (!holds) throw brokenBy(what);
}
