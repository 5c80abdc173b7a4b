import { setTimeout as delay } from 'node:timers/promises';
import type { Cameras } from './cameras.ts';
import type { ResultsWorld } from './results-world.ts';

const SAMPLED_STREAMS = 20;

/** Milliseconds from the capture of frames of some streams until they were stored, until so many are captured. */
export async function sampleLags({ database }: ResultsWorld, cameras: Cameras, until: number): Promise<number[]> {
  const { taskIds, capturedAtMs, captured } = cameras;
  const step = Math.ceil(taskIds.length / SAMPLED_STREAMS);
  const sampled = taskIds.map((taskId, stream) => ({ taskId, stream })).filter(({ stream }) => stream % step === 0);
  const seen = new Map<string, number>();
  const lags: number[] = [];
  while (captured() < until) {
    const rows = await database
      .db('ingests')
      .select<{ task_id: string; stored: number | string }[]>('task_id', 'stored')
      .whereIn(
        'task_id',
        sampled.map(({ taskId }) => taskId),
      );
    const nowMs = performance.now();
    const counts = new Map(rows.map(({ task_id: taskId, stored }) => [taskId, Number(stored)]));
    for (const { taskId, stream } of sampled) {
      const stored = counts.get(taskId) ?? 0;
      for (let seq = seen.get(taskId) ?? stored; seq < stored; seq += 1) lags.push(nowMs - capturedAtMs(stream, seq));
      seen.set(taskId, stored);
    }
    await delay(20);
  }
  return lags;
}
