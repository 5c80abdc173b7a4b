import { until } from '@vision/shared/testing/until';

/** A breach that goes away within the time of the slowest sweeper is none; one that stays is. */
export async function lasting(check: () => Promise<string[]> | string[], patience: number): Promise<string[]> {
  let breaches: string[] = [];
  const held = async () => {
    breaches = await check();
    return breaches.length === 0;
  };
  const timeoutMs = Math.max(0, patience - Date.now());
  await until(held, { timeoutMs, intervalMs: 1_000 }).catch(() => undefined);
  return breaches;
}
