/** Processor time in each second of some work, by whose it is, and how many seconds the work took. */
export type Used<Part extends string> = Record<Part | 'seconds', number>;

/** @param use seconds of processor time since some beginning */
export async function useIn<Part extends string>(
  use: () => Record<Part, number>,
  work: () => Promise<unknown>,
): Promise<Used<Part>> {
  const [before, fromMs] = [use(), performance.now()];
  await work();
  const [after, seconds] = [use(), (performance.now() - fromMs) / 1_000];
  const parts = Object.keys(before) as Part[];
  const inSecond = Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / seconds]));
  return { ...inSecond, seconds } as Used<Part>;
}
