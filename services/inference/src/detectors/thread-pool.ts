import { isMarkedAsUntransferable, Worker } from 'node:worker_threads';
import { createGate } from '@vision/shared/async/gate';
import type { Gate, Turn } from '@vision/shared/async/gate';
import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { ReasonOf } from '@vision/contracts/reasons';
import { fail } from '@vision/contracts/errors';
import type { Logger } from '@vision/shared/logger';
import { createDetectionCosts } from './detection-costs.ts';
import './without-runtime-telemetry.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { DetectRequest, ThreadReply, ThreadSetup } from './thread-messages.ts';

/** An image for a detector. */
type Task = Omit<DetectRequest, 'id' | 'isAlone'>;

/** Setup of all threads. */
export type PoolSetup = Omit<ThreadSetup, 'aloneThreads'>;

export interface ThreadPoolOptions {
  threads: number;
  setup: PoolSetup;
  logger: Logger;
}

/** Owner and signal of an image, and whether its pixels may be transferred to the thread instead of copied. */
interface ImageTurn extends Turn {
  givesPixels?: boolean;
}

interface Pending {
  task: Task;
  turn: ImageTurn;
  resolve: (objects: DetectedObject[]) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  /** Whether it can use the cores of all threads for one image. */
  isWide: boolean;
  current?: (Pending & { id: number }) | undefined;
  /** Called when it has finished its current image. */
  onIdle?: (() => void) | undefined;
}

const RESTART_MS = 1000;
/** More threads hardly speed up the detection in one image. */
const MOST_FOR_ONE = 4;
/**
 * An image counts as alone when there was no second one for this long. Even in a busy service an image is briefly the
 * only one: if it had all cores, the images that arrive right after it would wait.
 */
const CALM_MS = 500;
// Sources run in development and in tests, compiled files in production; the extension of this module shows which.
const script = new URL(
  import.meta.url.endsWith('.ts') ? './detection-thread.ts' : './detection-thread.js',
  import.meta.url,
);

/** Detection threads, each with its own copy of the models; a crashed thread is replaced. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  /** As many images as there are threads; the others wait, with fair queueing of owners. */
  readonly #gate: Gate;
  /** Images without a thread because one was lost. */
  readonly #queue: Pending[] = [];
  readonly #costs = createDetectionCosts();
  #lastId = 0;
  /** Last time with more than one image here, by `performance.now()`. */
  #crowdedAt = -Infinity;
  #stopped = false;
  #starting: Promise<void> = Promise.resolve();

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#gate = createGate({ concurrency: Math.max(1, options.threads) });
  }

  /** Loads the models in every thread. @throws when a model cannot be loaded. */
  async start(): Promise<void> {
    // A second session takes as much memory as the first, so only one thread has it.
    await Promise.all(Array.from({ length: this.#options.threads }, (_, index) => this.#add(index === 0)));
  }

  /** Number of threads that can detect now. */
  get alive(): number {
    return this.#threads.size;
  }

  /** Processor time of one detection in a video frame of this shape, milliseconds; 0 before the first measurement. */
  costMs(detector: string, shape: ImageSize): number {
    return this.#costs.costMs({ work: detector, shape });
  }

  /** Runs on a free thread in the turn of its owner. @throws AppError of kind unavailable, the signal's reason. */
  detect(task: Task, turn: ImageTurn = {}): Promise<DetectedObject[]> {
    return this.#gate.run(() => this.#runNow(task, turn), turn);
  }

  #runNow(task: Task, turn: ImageTurn): Promise<DetectedObject[]> {
    if (this.#stopped || this.alive === 0) return Promise.reject(fail.upstreamDown('detector_lost'));
    if (this.#gate.load() > 1) this.#crowdedAt = performance.now();
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, turn, resolve, reject });
      this.#pump();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#refuseQueue('stopping');
    // A thread that is loading its models has to join the pool before it can be ended.
    await this.#starting;
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)));
  }

  /** Terminating a thread during a detection would end the whole process, so its current image is finished first. */
  async #end(thread: Thread): Promise<void> {
    if (thread.current) await new Promise<void>((resolve) => (thread.onIdle = resolve));
    await thread.worker.terminate();
  }

  #pump(): void {
    while (this.#idle.length > 0 && this.#queue.length > 0) {
      const pending = this.#queue.shift() as Pending;
      const { signal, givesPixels } = pending.turn;
      if (signal?.aborted) {
        pending.reject(signal.reason);
        continue;
      }
      const isAlone = this.#gate.load() === 1 && performance.now() - this.#crowdedAt > CALM_MS;
      const thread = this.#takeIdle(isAlone);
      this.#lastId += 1;
      thread.current = { ...pending, id: this.#lastId };
      const request: DetectRequest = { ...pending.task, id: this.#lastId, isAlone };
      thread.worker.postMessage(request, givesPixels ? ownMemory(request.image) : []);
    }
  }

  /** An image that is alone goes to the wide thread; the others leave that thread free for as long as possible. */
  #takeIdle(isAlone: boolean): Thread {
    const at = this.#idle.findIndex((thread) => thread.isWide === isAlone);
    return this.#idle.splice(Math.max(0, at), 1)[0] as Thread;
  }

  #finish(thread: Thread, reply: ThreadReply): void {
    const { current } = thread;
    if ('ready' in reply || current?.id !== reply.id) return;
    thread.current = undefined;
    if ('error' in reply) current.reject(fail.upstreamDown('detection_failed', new Error(reply.error)));
    else {
      if (reply.cpuMs !== undefined)
        this.#costs.add({ work: current.task.detector, shape: current.task.shape }, reply.cpuMs);
      current.resolve(reply.objects);
    }
    thread.onIdle?.();
    this.#idle.push(thread);
    this.#pump();
  }

  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    if (this.#idle.includes(thread)) this.#idle.splice(this.#idle.indexOf(thread), 1);
    thread.current?.reject(fail.upstreamDown('detector_lost', error));
    thread.onIdle?.();
    if (this.#stopped) return;
    this.#options.logger.error({ err: error }, 'detection thread lost; starting another');
    if (this.alive === 0) this.#refuseQueue('detector_lost');
    this.#revive(thread.isWide);
  }

  #revive(isWide: boolean): void {
    setTimeout(() => {
      this.#starting = this.#add(isWide).catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'detection thread did not start; trying again');
        this.#revive(isWide);
      });
    }, RESTART_MS).unref();
  }

  async #add(isWide: boolean): Promise<void> {
    if (this.#stopped) return;
    const { setup, threads } = this.#options;
    const aloneThreads = isWide ? Math.max(1, Math.min(threads, MOST_FOR_ONE)) : 1;
    const worker = await startThread({ ...setup, aloneThreads });
    const thread: Thread = { worker, isWide };
    this.#threads.add(thread);
    worker.on('message', (reply: ThreadReply) => this.#finish(thread, reply));
    worker.on('error', (error) => this.#lose(thread, error));
    worker.on('exit', (code) => this.#lose(thread, new Error(`exit code ${code}`)));
    this.#idle.push(thread);
    this.#pump();
  }

  #refuseQueue(reason: ReasonOf<'OP-TASK-UPSTREAM-DOWN'>): void {
    for (const { reject } of this.#queue.splice(0)) reject(fail.upstreamDown(reason));
  }
}

/** The memory of the pixels, unless it also holds other data or belongs to a library. */
function ownMemory({ data: { buffer, byteLength } }: RgbImage): ArrayBuffer[] {
  const isMovable = buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer);
  return isMovable && byteLength === buffer.byteLength ? [buffer] : [];
}

// Without flags of its own the thread would run the telemetry preload of the process again.
async function startThread(setup: ThreadSetup): Promise<Worker> {
  const worker = new Worker(script, { workerData: setup, execArgv: [] });
  await new Promise<void>((resolve, reject) => {
    const onExit = (code: number) => settle(() => reject(new Error(`the detection thread ended with code ${code}`)));
    const onError = (error: Error) => settle(() => reject(error));
    const onReady = () => settle(resolve);
    const settle = (outcome: () => void) => {
      worker.off('message', onReady).off('error', onError).off('exit', onExit);
      outcome();
    };
    worker.on('message', onReady).on('error', onError).on('exit', onExit);
  });
  return worker;
}
