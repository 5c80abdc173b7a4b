import type { ImageSize } from '@vision/shared/contracts/detection';
import { fail } from '@vision/shared/errors';
import { judgePicture } from '../domain/judge-picture.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { createGate, mostForOne } from '@vision/shared/async/gate';
import type { Turn } from '@vision/shared/async/gate';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { startPictureProcess } from './picture-process.ts';
import type { PictureLimits, PictureProcess } from './picture-process.ts';

interface DecodedPicture {
  /** Size of the picture as a person sees it, after orientation. */
  original: ImageSize;
  image: RgbImage;
  /** Processor time that decoding took, milliseconds. */
  cpuMs: number;
}

/** Decodes pictures of strangers in processes of its own. */
export interface PictureDecoder {
  /** Starts the processes; later ones are started when they are needed. */
  start(): void;
  /**
   * JPEG, PNG or WebP by its leading bytes, scaled to what `fit` says for its size. Waits for a free process; owners
   * take turns, and none holds all processes.
   * @throws ImageRefusedError when the picture is at fault, AppError of kind unavailable, the reason of the signal.
   */
  decode(bytes: Uint8Array, fit: (original: ImageSize) => ImageSize, turn?: Turn): Promise<DecodedPicture>;
  stop(): void;
}

export interface PictureDecoderOptions {
  sandbox: Sandbox;
  /** Pictures decoded at the same time. */
  processes: number;
  limits: PictureLimits;
  /** Told of every picture that took its process down with it. */
  onLost: () => void;
}

/** Unpacking more pixels takes hundreds of megabytes, so such pictures take turns. */
const LARGE_PIXELS = 12_000_000;
const QUEUE = 1000;

export function createPictureDecoder({ sandbox, processes, limits, onLost }: PictureDecoderOptions): PictureDecoder {
  const all = createGate({ concurrency: processes, queue: QUEUE, perOwner: mostForOne(processes) });
  const large = createGate({ concurrency: 1, queue: QUEUE });
  const idle: PictureProcess[] = [];
  const running = new Set<PictureProcess>();
  const add = () => {
    const started = startPictureProcess(sandbox, limits);
    running.add(started);
    return started;
  };

  const inProcess = async <T>(work: (decoder: PictureProcess) => Promise<T>): Promise<T> => {
    const decoder = takeAlive(idle, running) ?? add();
    try {
      return await work(decoder);
    } finally {
      if (decoder.isAlive) idle.push(decoder);
      else {
        running.delete(decoder);
        onLost();
      }
    }
  };

  return {
    start: () => {
      if (!sandbox.canRun) return;
      for (let count = running.size; count < processes; count += 1) idle.push(add());
    },
    decode: async (bytes, fit, turn) => {
      if (!sandbox.canRun) throw fail.upstreamDown('sandbox_unavailable');
      const judged = judgePicture(bytes);
      const decode = () =>
        all.run(async () => {
          const { original, pixels, cpuMs } = await inProcess((decoder) => decoder.decode(bytes, judged, fit));
          return { original, image: { ...fit(original), data: pixels }, cpuMs };
        }, turn);
      return judged.width * judged.height > LARGE_PIXELS ? large.run(decode, turn) : decode();
    },
    stop: () => {
      for (const decoder of running) decoder.kill();
    },
  };
}

/** One that ended itself while it was idle is forgotten. */
function takeAlive(idle: PictureProcess[], running: Set<PictureProcess>): PictureProcess | undefined {
  for (let found = idle.pop(); found; found = idle.pop()) {
    if (found.isAlive) return found;
    running.delete(found);
  }
  return undefined;
}
