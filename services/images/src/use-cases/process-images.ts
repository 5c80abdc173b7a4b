import { createGate } from '@vision/shared/async/gate';
import { fail } from '@vision/contracts/errors';
import { runInTurn } from '@vision/shared/upstream/queue-span';
import type { Deps } from './deps.ts';
import { processImage } from './process-image.ts';
import type { CallWork, NumberedImage, ProcessedImage, ReceivedImage } from './process-image.ts';

export type ProcessDeps = Pick<Deps, 'inference' | 'imageGate' | 'ownPrefix' | 'settings' | 'signals' | 'store'>;

export interface ImagesInput extends Pick<CallWork, 'call' | 'scene' | 'confirmed' | 'signal'> {
  images: ReceivedImage[];
  /** When the work must end, by `performance.now()`. */
  deadline: number;
}

/**
 * Relays and detects the images of one call, some at a time; every image has its own outcome. Images without enough
 * time left fail: the gateway counts the calls of a subject for a limited time, and the work must end by then.
 * @throws AppError OP-TASK-BREAKER-OPEN when the backend is not called at all.
 */
export async function processImages(
  deps: ProcessDeps,
  { images, deadline, ...common }: ImagesInput,
): Promise<ProcessedImage[]> {
  const work: CallWork = { ...common, stalled: new AbortController(), late: new AbortController() };
  const timers = limitTime(deps, work, deadline - performance.now());
  try {
    return await processAll(deps, work, images);
  } finally {
    timers.forEach(clearTimeout);
  }
}

async function processAll(deps: ProcessDeps, work: CallWork, images: ReceivedImage[]): Promise<ProcessedImage[]> {
  const tried = await tryBackend(deps, work, images);
  const callGate = createGate({ concurrency: deps.settings.imagesPerCallAtOnce });
  const process = (numbered: NumberedImage) => whenFree(deps, work, () => processImage(deps, work, numbered));
  const settled = await Promise.allSettled(
    images.slice(tried.length).map((image, index) => callGate.run(() => process({ seq: tried.length + index, image }))),
  );
  work.signal.throwIfAborted();
  return [...tried, ...settled.map(valueOf)];
}

/**
 * A half-open breaker lets one image through and would refuse the others of its call, so these wait for its outcome. If
 * it has let an image of another call through, this whole call is refused.
 */
async function tryBackend(deps: ProcessDeps, work: CallWork, images: ReceivedImage[]): Promise<ProcessedImage[]> {
  const { inference } = deps;
  const processed: ProcessedImage[] = [];
  for (const [seq, image] of images.entries()) {
    const state = inference.breakerState('detect');
    if (state === 'closed' || (state === 'open' && seq > 0)) break;
    const one = await whenFree(deps, work, () => {
      if (seq === 0) inference.assertAccepting('detect');
      return processImage(deps, work, { seq, image });
    });
    processed.push(one);
  }
  return processed;
}

/** Begins no image that the backend might not answer in time, and aborts images in progress at the deadline. */
function limitTime({ settings }: ProcessDeps, work: CallWork, leftMs: number): NodeJS.Timeout[] {
  const end = (what: AbortController) => what.abort(fail.upstreamDown('image_call_out_of_time'));
  return [setTimeout(end, leftMs - settings.detectMs, work.stalled), setTimeout(end, leftMs, work.late)];
}

/**
 * Waits for a slot among the images of all calls. An aborted wait begins the image at once, which then fails at once.
 */
async function whenFree<T>({ imageGate }: ProcessDeps, work: CallWork, begin: () => Promise<T>): Promise<T> {
  const ended = AbortSignal.any([work.signal, work.stalled.signal]);
  try {
    return await runInTurn(imageGate, 'images', begin, { owner: work.call.subject, signal: ended });
  } catch (error) {
    if (error !== ended.reason) throw error;
    return begin();
  }
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
