import { readMetrics } from '../../support/metrics.ts';
import type { Replica } from '../world/replicas.ts';
import type { Invariant } from './invariant.ts';

/** Rounds of a healthy loop that may fail one after the other, and the shortest time in which they may. */
const ROUNDS = 3;
const LEAST_S = 60;

/** What the alert VisionLoopFails tells operators after ten minutes. */
export const loopInvariants: Invariant[] = [
  {
    id: 'loops',
    says: 'Every background loop of every process succeeds again, and its gauge shows when it last did',
    check: async ({ world: { replicas } }) => (await Promise.all(replicas.map(stalledLoops))).flat(),
  },
];

async function stalledLoops({ name, healthUrl }: Pick<Replica, 'name' | 'healthUrl'>): Promise<string[]> {
  const reply = await fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
  const { samples } = readMetrics(await reply.text());
  const valuesOf = (metric: string) =>
    new Map(samples.filter((one) => one.name === metric).map(({ labels, value }) => [labels['loop'] ?? '', value]));
  const pauses = valuesOf('vision_loop_pause_seconds');
  const ages = [...valuesOf('vision_loop_last_success_seconds')];
  if (ages.length === 0) return [`${name} shows no loop`];
  return ages
    .filter(([loop, age]) => age > Math.max(ROUNDS * (pauses.get(loop) ?? 0), LEAST_S))
    .map(([loop, age]) => `${name}: ${loop} did not succeed for ${Math.round(age)} s`);
}
