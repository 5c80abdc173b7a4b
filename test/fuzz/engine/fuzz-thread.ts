import { parentPort, workerData } from 'node:worker_threads';
import type { FuzzTarget } from '../target.ts';
import { createFeedback } from './feedback.ts';
import { fuzz } from './fuzzer.ts';
import { instrumentModules } from './instrument.ts';
import { createWatchedInput } from './watched-input.ts';

/** What the thread that fuzzes one target is told. */
export interface ThreadTask {
  targetUrl: string;
  instrumented: readonly string[];
  seeds: readonly Uint8Array[];
  seed: number;
  until: number;
  shared: SharedArrayBuffer;
}

// Refusals are errors, and a stack costs more than most inputs.
Error.stackTraceLimit = 0;
const task = workerData as ThreadTask;
const feedback = createFeedback();
instrumentModules(feedback, task.instrumented);
const { target } = (await import(task.targetUrl)) as { target: FuzzTarget };
const watched = createWatchedInput(task.shared);
const report = await fuzz({
  target,
  feedback,
  seeds: task.seeds.map((bytes) => Buffer.from(bytes)),
  seed: task.seed,
  until: task.until,
  onInput: watched.begin,
});
parentPort?.postMessage(report);
