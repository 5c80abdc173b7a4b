export interface BudgetLimits {
  /** Processor time that every image may take without being counted. */
  freeMs: number;
  /** What every refused image counts beside that: it costs no unit, but work in all services. */
  refusedMs: number;
  /** What may be counted for a subject in one second, in the long run. */
  perSecondMs: number;
  /** What may be counted for it at once after a rest. */
  burstMs: number;
}

/** What the images of a call, or the look at a video, cost. */
export interface Spent {
  /** Of each image by itself. */
  processorMs: readonly number[];
  /** How many of them were refused. */
  refusedImages: number;
}

/** What counts of the cost of some images, each by itself: ordinary ones that can be read count for nothing. */
export function countedMs({ processorMs, refusedImages }: Spent, { freeMs, refusedMs }: BudgetLimits): number {
  return processorMs.reduce((sum, spent) => sum + Math.max(0, spent - freeMs), refusedImages * refusedMs);
}

/** Time until work is accepted again when so much is left; 0 while anything is left. */
export function waitMs(leftMs: number, { perSecondMs }: BudgetLimits): number {
  return leftMs > 0 ? 0 : Math.ceil(((1 - leftMs) * 1000) / perSecondMs);
}
