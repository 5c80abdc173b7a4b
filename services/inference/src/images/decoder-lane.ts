import { createGate } from '@vision/shared/async/gate';
import type { Turn } from '@vision/shared/async/gate';
import { fail } from '@vision/contracts/errors';
import type { ImageProcess } from './image-process.ts';

export interface LaneOptions {
  /** Images decoded at the same time. */
  places: number;
  /** One place more for an owner that holds none. */
  hasSpare?: boolean;
  startProcess: () => ImageProcess;
  /** Told of every image that took its process down with it. */
  onLost: () => void;
}

/** Processes for images of one class; those of another class never take their places. */
export interface DecoderLane {
  start(): void;
  /**
   * Owners take turns.
   * @throws the reason of the turn's signal when it fires before the work began; AppError of kind unavailable when the
   * lane has stopped (`decoder_stopped`) or the system starts no process (`decoder_not_started`).
   */
  run<T>(work: (decoder: ImageProcess) => Promise<T>, turn?: Turn): Promise<T>;
  stop(): void;
}

/** Before another is started in place of one that ended without an image, or that could not be started. */
const RESTART_MS = 1_000;

export function createDecoderLane({ places, hasSpare, startProcess, onLost }: LaneOptions): DecoderLane {
  const gate = createGate({ concurrency: places, spare: hasSpare ? 1 : 0 });
  // One more than there are places: where an image ends its process, the next one does not wait for a start.
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
  // At the front, so that one which is still starting is taken last.
  const fill = () => {
    try {
      while (!isStopped && processes.size < wanted) idle.unshift(add());
    } catch {
      // The sandbox has reported it. No image waits for this process, so none fails.
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
    // An image may have waited in the gate until now. A decoder started after the stop would never be ended.
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
          // The stop has ended the process; the image is not to blame.
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
