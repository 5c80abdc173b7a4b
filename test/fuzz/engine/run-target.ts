import { Worker } from 'node:worker_threads';
import type { ThreadTask } from './fuzz-thread.ts';
import type { FuzzReport } from './fuzzer.ts';
import { createWatchedInput, watchedBytes } from './watched-input.ts';

export interface TargetRun {
  targetUrl: string;
  instrumented: readonly string[];
  seeds: readonly Buffer[];
  seed: number;
  /** When to stop, as of `Date.now()`. */
  until: number;
}

/** An input that takes this long has no end, however busy the machine is. */
const HANG_MS = 10_000;
const LOOK_MS = 250;
const MAX_HEAP_MB = 512;
const LONGEST_INPUT = 1 << 20;

/**
 * Fuzzes one target in a thread of its own, which is ended when an input does not end or fills the memory.
 * @throws Error when the target cannot be run at all.
 */
export async function runTarget(run: TargetRun): Promise<FuzzReport> {
  const shared = watchedBytes(LONGEST_INPUT);
  const watched = createWatchedInput(shared);
  const task: ThreadTask = { ...run, shared };
  const worker = new Worker(new URL('./fuzz-thread.ts', import.meta.url), {
    workerData: task,
    // A thread takes options of Node.js, and none of V8.
    execArgv: [...process.execArgv.filter(isOfNode), '--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const started = performance.now();
  const outcome = Promise.withResolvers<FuzzReport>();
  const stopWith = (error: string) => {
    const finding = { error, input: watched.current() };
    outcome.resolve({
      inputs: watched.count(),
      seconds: (performance.now() - started) / 1000,
      edges: 0,
      edgesHit: 0,
      findings: [finding],
      corpus: [],
    });
  };
  let last = { count: -1, at: performance.now() };
  const look = setInterval(() => {
    if (watched.count() !== last.count) last = { count: watched.count(), at: performance.now() };
    const isRunning = last.count > 0;
    if (isRunning && performance.now() - last.at > HANG_MS) stopWith(`no end after ${HANG_MS / 1000} s`);
  }, LOOK_MS);
  worker.once('message', (report: FuzzReport) => outcome.resolve(revive(report)));
  worker.once('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') stopWith('fills the memory');
    else outcome.reject(error);
  });
  // A thread ends by itself when its input waits and nothing is left that could go on.
  worker.once('exit', () => stopWith('waits for what never comes'));
  try {
    return await outcome.promise;
  } finally {
    clearInterval(look);
    await worker.terminate();
  }
}

/** Buffers arrive from a thread as plain arrays of bytes. */
function revive(report: FuzzReport): FuzzReport {
  return {
    ...report,
    corpus: report.corpus.map((bytes) => Buffer.from(bytes)),
    findings: report.findings.map(({ error, input }) => ({ error, input: Buffer.from(input) })),
  };
}

const isOfNode = (option: string) => process.allowedNodeEnvironmentFlags.has(option.replace(/=.*/s, ''));
