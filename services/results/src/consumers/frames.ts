import { frameProduced, jobEnded, segmentProduced } from '@vision/contracts/frame-events';
import type { BatchMeta } from '@vision/kafka/batch-consumer';
import { isEvent } from '@vision/kafka/subscription';
import type { ReceivedEvent } from '@vision/kafka/subscription';
import type { FrameMessage } from '../domain/fold-events.ts';
import type { Deps } from '../use-cases/deps.ts';
import { storeFrames } from '../use-cases/store/store-frames.ts';

export const frameEvents = [frameProduced, segmentProduced, jobEnded];

type FrameDeps = Pick<Deps, 'liveRules' | 'partitions' | 'settings' | 'signals' | 'wakeRelay'>;

export const frameHandler =
  (deps: FrameDeps) => async (events: ReceivedEvent<unknown>[], meta: Pick<BatchMeta, 'transaction' | 'isReread'>) => {
    const stored = await storeFrames(deps, events.flatMap(toMessage), meta.transaction, meta);
    for (const frames of stored) deps.liveRules.stored(frames);
  };

function toMessage(event: ReceivedEvent<unknown>): FrameMessage[] {
  if (isEvent(frameProduced, event)) return [{ kind: 'frame', data: event.data }];
  if (isEvent(segmentProduced, event)) return event.data.frames.map((data) => ({ kind: 'frame', data }));
  if (isEvent(jobEnded, event)) return [{ kind: 'end', data: event.data }];
  return [];
}
