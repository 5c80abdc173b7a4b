export interface BudgetLimits {
  /** Processor time that every picture may take without being counted. */
  freeMs: number;
  /** What a subject may take beyond that in one second, in the long run. */
  perSecondMs: number;
  /** What it may take at once after a rest. */
  burstMs: number;
}

/** What is left of a budget, below zero after more was taken than there was, and when that was so. */
export interface Budget {
  leftMs: number;
  atMs: number;
}

/** What counts of the processor time of some pictures, each by itself: that of ordinary ones never does. */
export function countedMs(spentMs: readonly number[], { freeMs }: BudgetLimits): number {
  return spentMs.reduce((sum, spent) => sum + Math.max(0, spent - freeMs), 0);
}

/** A budget as it is now; one that nobody knows is full. */
export function refilled(budget: Budget | undefined, nowMs: number, { perSecondMs, burstMs }: BudgetLimits): Budget {
  if (!budget) return { leftMs: burstMs, atMs: nowMs };
  const since = Math.max(0, nowMs - budget.atMs);
  return { leftMs: Math.min(burstMs, budget.leftMs + (since * perSecondMs) / 1000), atMs: nowMs };
}

/** Time until work is accepted again; 0 while anything is left. */
export function waitMs({ leftMs }: Budget, { perSecondMs }: BudgetLimits): number {
  return leftMs > 0 ? 0 : Math.ceil(((1 - leftMs) * 1000) / perSecondMs);
}
