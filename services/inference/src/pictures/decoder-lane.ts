import { createGate } from '@vision/shared/async/gate';
import type { Turn } from '@vision/shared/async/gate';
import type { PictureProcess } from './picture-process.ts';

export interface LaneOptions {
  /** Pictures decoded at the same time. */
  places: number;
  /** One place more for an owner that holds none. */
  hasSpare?: boolean;
  startProcess: () => PictureProcess;
  /** Told of every picture that took its process down with it. */
  onLost: () => void;
}

/** Processes for pictures of one class; those of another class never take their places. */
export interface DecoderLane {
  start(): void;
  /** Owners take turns. @throws the reason of the turn's signal when it fires before the work began. */
  run<T>(work: (decoder: PictureProcess) => Promise<T>, turn?: Turn): Promise<T>;
  stop(): void;
}

/** Before another is started in place of one that ended without having been given a picture. */
const RESTART_MS = 1_000;

export function createDecoderLane({ places, hasSpare, startProcess, onLost }: LaneOptions): DecoderLane {
  const gate = createGate({ concurrency: places, spare: hasSpare ? 1 : 0 });
  // One more than there are places: where a picture ends its process, the next one does not wait for a start.
  const wanted = places + 1;
  const processes = new Set<PictureProcess>();
  const idle: PictureProcess[] = [];
  let isStopped = false;

  const add = (): PictureProcess => {
    const added = startProcess();
    processes.add(added);
    void added.ended.then(() => {
      processes.delete(added);
      if (idle.includes(added)) idle.splice(idle.indexOf(added), 1);
      if (added.hasWorked) fill();
      else setTimeout(fill, RESTART_MS).unref();
    });
    return added;
  };
  // At the front, so that one which is still starting is taken last.
  const fill = () => {
    while (!isStopped && processes.size < wanted) idle.unshift(add());
  };
  const take = (): PictureProcess => {
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
        } finally {
          if (!decoder.isAlive) onLost();
          else if (decoder.isWorn) decoder.kill();
          else idle.push(decoder);
        }
      }, turn),
    stop: () => {
      isStopped = true;
      for (const decoder of processes) decoder.kill();
    },
  };
}
