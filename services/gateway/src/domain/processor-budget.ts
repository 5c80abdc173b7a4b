export interface BudgetLimits {
  /** Processor time that every image may take without being counted. */
  freeMs: number;
  /** Additional charge for each refused image: it costs no unit, but work in all services. */
  refusedMs: number;
  /** Long-term limit of charged time per second. */
  perSecondMs: number;
  /** Limit of time charged at once after a pause. */
  burstMs: number;
}

/** Cost of the images of a call, or of inspecting a video. */
export interface Spent {
  /** Processor time of each image. */
  processorMs: readonly number[];
  /** Number of refused images. */
  refusedImages: number;
}

/** Charged part of the cost of images, each separately: ordinary readable ones are free. */
export function countedMs({ processorMs, refusedImages }: Spent, { freeMs, refusedMs }: BudgetLimits): number {
  return processorMs.reduce((sum, spent) => sum + Math.max(0, spent - freeMs), refusedImages * refusedMs);
}

/** Time until work is accepted again with this remainder; 0 while it is positive. */
export function waitMs(leftMs: number, { perSecondMs }: BudgetLimits): number {
  return leftMs > 0 ? 0 : Math.ceil(((1 - leftMs) * 1000) / perSecondMs);
}
