import type { Frame } from './boxes.ts';
import { isPassing } from './trouble.ts';

const CHUNK_MS = 30_000;
const HELD_CHUNKS = 8;
const RETRY_MS = 2_000;
const EMPTY = { isComplete: false, isLoading: false, hasFailed: false, loadedAt: -Infinity };

interface Chunk {
  frames: Frame[];
  isComplete: boolean;
  isLoading: boolean;
  hasFailed: boolean;
  loadedAt: number;
}

export interface FrameWindowOptions {
  /** The frames of a time, the end exclusive, in order. */
  load: (fromMs: number, toMs: number) => Promise<Frame[]>;
  /** Whether no frame before this time can follow any more. */
  isFinal: (toMs: number) => boolean;
  /** Called after every load, a failed one too. */
  onChange: () => void;
  onProblem: (error: unknown) => void;
}

/** Frames around a position, 30 s before and behind it at least. */
export class FrameWindow {
  readonly #options: FrameWindowOptions;
  readonly #chunks = new Map<number, Chunk>();

  constructor(options: FrameWindowOptions) {
    this.#options = options;
  }

  /** The frames that are there; those that are missing around the position are loaded. */
  around(timeMs: number, now = performance.now()): Frame[] {
    const index = indexOf(timeMs);
    for (const near of [index, index + 1, index - 1]) if (near >= 0) this.#want(near, now);
    this.#forgetFarFrom(index);
    // Two of them: what moves from the last frame of one to the first of the next is drawn in between.
    return [index - 1, index, index + 1].flatMap((near) => this.#chunks.get(near)?.frames ?? []);
  }

  /** Whether frames around a position are missing, as they could not be loaded. */
  hasFailedAround(timeMs: number): boolean {
    const index = indexOf(timeMs);
    return [index - 1, index, index + 1].some((near) => this.#chunks.get(near)?.hasFailed === true);
  }

  #want(index: number, now: number): void {
    const chunk = this.#chunks.get(index) ?? { ...EMPTY, frames: [] };
    this.#chunks.set(index, chunk);
    if (chunk.isComplete || chunk.isLoading || now - chunk.loadedAt < RETRY_MS) return;
    chunk.isLoading = true;
    void this.#fill(index, chunk);
  }

  async #fill(index: number, chunk: Chunk): Promise<void> {
    const toMs = (index + 1) * CHUNK_MS;
    // Asked before: frames may be stored while the page is on its way.
    const isFinal = this.#options.isFinal(toMs);
    try {
      chunk.frames = await this.#options.load(index * CHUNK_MS, toMs);
      chunk.isComplete = isFinal;
      chunk.hasFailed = false;
    } catch (error) {
      chunk.hasFailed = true;
      // What the service refuses is not asked for again.
      chunk.isComplete = !isPassing(error);
      this.#options.onProblem(error);
    }
    chunk.isLoading = false;
    chunk.loadedAt = performance.now();
    this.#options.onChange();
  }

  #forgetFarFrom(index: number): void {
    if (this.#chunks.size <= HELD_CHUNKS) return;
    const farthest = [...this.#chunks.keys()].toSorted((a, b) => Math.abs(b - index) - Math.abs(a - index));
    for (const key of farthest.slice(0, this.#chunks.size - HELD_CHUNKS)) this.#chunks.delete(key);
  }
}

const indexOf = (timeMs: number) => Math.max(0, Math.floor(timeMs / CHUNK_MS));
