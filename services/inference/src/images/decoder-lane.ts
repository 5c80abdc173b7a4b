import { createGate } from '@vision/shared/async/gate';
import type { Turn } from '@vision/shared/async/gate';
import { fail } from '@vision/contracts/errors';
import type { ImageProcess } from './image-process.ts';

export interface LaneOptions {
  /** Number of images decoded concurrently. */
  places: number;
  /** One additional slot for an owner that holds none. */
  hasSpare?: boolean;
  startProcess: () => ImageProcess;
  /** Called for every image that crashed its process. */
  onLost: () => void;
}

/** Processes for images of one class; images of another class never take its slots. */
export interface DecoderLane {
  start(): void;
  /**
   * Runs the work on a free process, with fair queueing of owners.
   * @throws the reason of the turn's signal when it fires before the work began; AppError of kind unavailable when the
   * lane has stopped (`decoder_stopped`) or no process can be started (`decoder_not_started`).
   */
  run<T>(work: (decoder: ImageProcess) => Promise<T>, turn?: Turn): Promise<T>;
  stop(): void;
}

/** Delay before replacing a process that ended without an image, or that could not be started. */
const RESTART_MS = 1_000;

export function createDecoderLane({ places, hasSpare, startProcess, onLost }: LaneOptions): DecoderLane {
  const gate = createGate({ concurrency: places, spare: hasSpare ? 1 : 0 });
  // One more than there are slots: after an image crashed its process, the next one does not wait for a start.
  const wanted = places + 1;
  const processes = new Set<ImageProcess>();
  const idle: ImageProcess[] = [];
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;

  const add = (): ImageProcess => {
    const added = startProcess();
    processes.add(added);
    void added.ended.then(() => {
      processes.delete(added);
      if (idle.includes(added)) idle.splice(idle.indexOf(added), 1);
      if (added.hasWorked) fill();
      else fillLater();
    });
    return added;
  };
  // New processes go to the front, so that one that is still starting is used last.
  const fill = () => {
    try {
      while (!isStopped && processes.size < wanted) idle.unshift(add());
    } catch {
      // The sandbox has reported the error. No image waits for this process, so none fails.
      fillLater();
    }
  };
  const fillLater = () => {
    retry ??= setTimeout(() => {
      retry = undefined;
      fill();
    }, RESTART_MS).unref();
  };
  const take = (): ImageProcess => {
    // The image may have waited in the gate until after the stop, and a decoder started then would never be ended.
    if (isStopped) throw stopped();
    for (let found = idle.pop(); found; found = idle.pop()) if (found.isAlive) return found;
    return add();
  };

  return {
    start: fill,
    run: (work, turn) =>
      gate.run(async () => {
        const decoder = take();
        try {
          return await work(decoder);
        } catch (error) {
          // The stop has ended the process; the image is not at fault.
          throw isStopped && !decoder.isAlive ? stopped() : error;
        } finally {
          if (!decoder.isAlive) {
            if (!isStopped) onLost();
          } else if (decoder.isWorn) decoder.kill();
          else idle.push(decoder);
        }
      }, turn),
    stop: () => {
      isStopped = true;
      clearTimeout(retry);
      for (const decoder of processes) decoder.kill();
    },
  };
}

const stopped = () => fail.upstreamDown('decoder_stopped');
