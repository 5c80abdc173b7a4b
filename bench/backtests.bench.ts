import { testToken } from '@vision/shared/testing/service-keys';
import { atLeast, median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { createResultsWorld } from './scale/results-world.ts';
import { keeper } from './segment-ingest.ts';
import { showTask } from './serve-pages.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';

export const name = 'backtests';

const HOUR_MS = 3_600_000;
/** The most that one backtest evaluates. */
const HOURS = 6;
const FPS = 5;
const FRAMES = HOURS * 3600 * FPS;
const OBJECTS = 3;
/** Frames that are stored in one transaction. */
const BATCH = 300;
const ROUNDS = 3;
const SUBJECT = 'bench';

/**
 * A rule tried on six hours of stored frames, over reading the same frames by pages of 500, both over HTTP from one
 * process of results, in alternating rounds.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const world = await createResultsWorld();
  try {
    const taskId = syntheticTaskId();
    const keep = keeper(world.database.db);
    for (let from = 0; from < FRAMES; from += BATCH)
      await keep(Array.from({ length: BATCH }, (_, index) => syntheticFrame(taskId, from + index, OBJECTS)));
    await showTask(world.database.db, taskId, 'upload');
    const { url } = await world.start();
    const [evaluated, read]: number[][] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      evaluated?.push(await timed(() => evaluateAll(url, taskId)));
      read?.push(await timed(() => readAll(url, taskId)));
    }
    return { figures: figuresOf(median(evaluated ?? []), median(read ?? [])) };
  } finally {
    await world.close();
  }
}

const figuresOf = (evaluatedMs: number, readMs: number): Figure[] => [
  { name: `backtest of ${HOURS} h, ${FRAMES} frames of ${OBJECTS} objects`, value: evaluatedMs, unit: 'ms' },
  { name: 'recorded time judged in a second', value: (HOURS * HOUR_MS) / evaluatedMs, unit: 's' },
  { name: 'reading the same frames by pages of 500', value: readMs, unit: 'ms' },
  { name: 'ratio, reading over the backtest', value: readMs / evaluatedMs, unit: 'ratio', target: atLeast(3) },
];

async function ask(url: string, body?: object): Promise<string> {
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${await testToken('gateway', 'results', { subject: SUBJECT })}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

async function evaluateAll(url: string, taskId: string): Promise<void> {
  // A rule that has to see every object, and raises few alarms.
  const when = { kind: 'object_present', labels: ['person'], min_score: 0.9, min_count: OBJECTS, for_ms: 2_000 };
  const asked = { task_id: taskId, when, from_ms: 0, to_ms: HOURS * HOUR_MS };
  const { frames_read: frames } = JSON.parse(await ask(`${url}/v1/vision/alarm-backtests`, asked)) as {
    frames_read: number;
  };
  if (frames !== FRAMES) throw new Error(`the backtest judged ${frames} of ${FRAMES} frames`);
}

async function readAll(url: string, taskId: string): Promise<void> {
  let frames = 0;
  for (let cursor = ''; frames < FRAMES;) {
    const page = JSON.parse(
      await ask(`${url}/v1/vision/tasks/${taskId}/results?limit=500&min_score=0.9&cursor=${cursor}`),
    ) as { items: unknown[]; next_cursor: string };
    frames += page.items.length;
    cursor = page.next_cursor;
    if (page.items.length === 0) throw new Error(`pages ended after ${frames} of ${FRAMES} frames`);
  }
}
