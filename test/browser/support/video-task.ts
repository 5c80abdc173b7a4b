import { randomUUID } from 'node:crypto';
import { example, form, scene } from '../../support/system.ts';
import type { Caller } from '../../support/system.ts';
import { untilStatus, video } from '../../support/video.ts';

/** Uploads the example by API and waits for its end; returns the task. */
export async function analysed(caller: Caller, clientRef: string): Promise<string> {
  const { body } = await caller.send('POST', `/v1/vision/video-tasks?client_ref=${clientRef}&snapshots=tracks`, {
    body: form(video(await example('street.mp4')), scene('person_vehicle')),
    headers: { 'idempotency-key': randomUUID() },
  });
  const taskId = String(body['task_id']);
  await untilStatus(caller, taskId, 'succeeded');
  return taskId;
}
