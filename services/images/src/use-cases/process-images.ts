import { createGate } from '@vision/shared/async/gate';
import type { SceneEntry } from '@vision/shared/contracts/scenes';
import type { Claim } from '../domain/image-call.ts';
import type { Deps } from './deps.ts';
import { processImage } from './process-image.ts';
import type { CallWork, NumberedImage, ProcessedImage, ReceivedImage } from './process-image.ts';

export type ProcessDeps = Pick<Deps, 'store' | 'inference' | 'signals' | 'imageGate' | 'settings'>;

export interface ImagesInput {
  claim: Claim;
  scene: SceneEntry;
  images: ReceivedImage[];
  /** Ends the work on all images; its reason is thrown. */
  signal: AbortSignal;
}

/**
 * Relays and detects the images of one call, some at a time; every image has its own outcome.
 * @throws AppError OP-TASK-BREAKER-OPEN when the backend is not asked at all.
 */
export async function processImages(deps: ProcessDeps, { images, ...call }: ImagesInput): Promise<ProcessedImage[]> {
  const work: CallWork = { ...call, stalled: new AbortController() };
  const tried = await tryBackend(deps, work, images);
  const callGate = createGate({ concurrency: deps.settings.imagesPerCallAtOnce });
  const turn = { owner: work.claim.subject };
  const process = (numbered: NumberedImage) => deps.imageGate.run(() => processImage(deps, work, numbered), turn);
  const settled = await Promise.allSettled(
    images.slice(tried.length).map((image, index) => callGate.run(() => process({ seq: tried.length + index, image }))),
  );
  work.signal.throwIfAborted();
  return [...tried, ...settled.map(valueOf)];
}

/**
 * While the breaker is half-open it lets one image through and would refuse the others of its call: they follow when it
 * is decided. Where the image of another call is the one let through, this call is refused as a whole.
 */
async function tryBackend(deps: ProcessDeps, work: CallWork, images: ReceivedImage[]): Promise<ProcessedImage[]> {
  const { inference, imageGate } = deps;
  const turn = { owner: work.claim.subject };
  const processed: ProcessedImage[] = [];
  for (const [seq, image] of images.entries()) {
    const state = inference.breakerState('detect');
    if (state === 'closed' || (state === 'open' && seq > 0)) break;
    const one = await imageGate.run(() => {
      if (seq === 0) inference.assertAccepting('detect');
      return processImage(deps, work, { seq, image });
    }, turn);
    processed.push(one);
  }
  return processed;
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
