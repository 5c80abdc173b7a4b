import { frameProduced, jobEnded } from '@vision/shared/contracts/frame-events';
import { isEvent } from '@vision/shared/messaging/subscription';
import type { ReceivedEvent } from '@vision/shared/messaging/subscription';
import type { FrameMessage } from '../domain/fold-events.ts';
import { storeFrames } from '../use-cases/store-frames.ts';
import type { StoreFramesDeps } from '../use-cases/store-frames.ts';

export const frameEvents = [frameProduced, jobEnded];

export const frameHandler = (deps: StoreFramesDeps) => (events: ReceivedEvent<unknown>[]) =>
  storeFrames(deps, events.flatMap(toMessage));

function toMessage(event: ReceivedEvent<unknown>): FrameMessage[] {
  if (isEvent(frameProduced, event)) return [{ kind: 'frame', data: event.data }];
  if (isEvent(jobEnded, event)) return [{ kind: 'end', data: event.data }];
  return [];
}
