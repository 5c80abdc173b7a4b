import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { createGate } from '@vision/shared/async/gate';
import { createLogger } from '@vision/shared/logger';
import { cursorCodec, nothingRead } from '../../services/results/src/domain/cursor.ts';
import { parseStreamQuery } from '../../services/results/src/domain/result-query.ts';
import { findTask } from '../../services/results/src/use-cases/read/find-task.ts';
import { followResults } from '../../services/results/src/use-cases/read/follow-results.ts';
import { createTaskWatch } from '../../services/results/src/use-cases/read/watch-tasks.ts';
import { atMost, median } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { syntheticFrame, syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames, showUpload } from './parts.ts';

const ROUNDS = 40;
const QUIET_MS = 2_000;

/** How much later a stream has a frame than a page, and what streams cost while there are none. */
export async function streamFigures(db: Knex): Promise<Figure[]> {
  const watch = createTaskWatch({ db, logger: createLogger('bench', 'silent'), endPatienceMs: 60_000 });
  watch.start();
  try {
    let statements = 0;
    const count = () => void (statements += 1);
    db.on('query', count);
    await delay(QUIET_MS);
    db.removeListener('query', count);
    return [
      {
        name: 'a stored frame until a stream has it, p50',
        value: await latency(db, watch),
        unit: 'ms',
        target: atMost(150),
      },
      { name: 'statements of streams while there are none', value: statements, unit: 'statements', target: atMost(0) },
    ];
  } finally {
    await watch.stop();
  }
}

async function latency(db: Knex, watch: ReturnType<typeof createTaskWatch>): Promise<number> {
  const deps = {
    ...depsOf(db),
    cursors: cursorCodec(['bench-key-bench-key-bench-key-bench-key']),
    searches: createGate({ concurrency: 2 }),
    watch,
  };
  const taskId = syntheticTaskId();
  await showUpload(db, taskId);
  const task = await findTask(deps, 'bench', taskId);
  const end = new AbortController();
  const selection = parseStreamQuery({});
  const events = followResults(deps, {
    subject: 'bench',
    taskId,
    task,
    from: nothingRead,
    selection,
    signal: end.signal,
  });
  const times: number[] = [];
  for (let seq = 0; seq < ROUNDS; seq += 1) {
    const next = nextFrame(events);
    await keepFrames(deps, [syntheticFrame(taskId, seq, 3)]);
    const readable = performance.now();
    await next;
    times.push(Math.max(0, performance.now() - readable));
    // Frames come at any time of the interval of the watch.
    await delay(Math.random() * 200);
  }
  end.abort();
  await events.return();
  return median(times);
}

async function nextFrame(events: ReturnType<typeof followResults>): Promise<void> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true || value.kind === 'frame') return;
  }
}
