import { until } from '@vision/shared/testing/until';
import { form, scene } from '../support/system.ts';
import type { Caller } from '../support/system.ts';
import { video } from '../support/video.ts';

/** Uploads are processed behind all streams, and attacks are tried beside them: minutes on a busy machine. */
const PATIENCE_MS = 600_000;

/** The id of a task whose video was published whole. */
export async function finishedUpload(owner: Caller, bytes: Uint8Array): Promise<string> {
  const { body } = await owner.createUpload(form(video(bytes), scene('person_vehicle')));
  const taskId = String(body['task_id']);
  await until(async () => (await owner.get(`/v1/vision/tasks/${taskId}`)).body['status'] === 'succeeded', {
    timeoutMs: PATIENCE_MS,
  });
  return taskId;
}
