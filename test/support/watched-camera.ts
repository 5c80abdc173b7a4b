import { join } from 'node:path';
import { startLiveSource } from '../../examples/live-source.ts';
import { Caller, examples } from './system.ts';

export interface WatchedCamera {
  caller: Caller;
  taskId: string;
  close: () => void;
}

/** A task that goes on, of a caller of its own: other tests do not meet it. */
export async function watchCamera(): Promise<WatchedCamera> {
  const caller = await Caller.create();
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
  return { caller, taskId: String(body['task_id']), close: () => camera.close() };
}
