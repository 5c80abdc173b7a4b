import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import type { ImageTask } from './task.ts';

/** The task form of an image call in the history. */
export function imageTask(call: ImageCallSnapshot): ImageTask {
  return {
    taskId: call.task_id,
    subject: call.subject,
    kind: 'image',
    requestId: call.request_id,
    sceneCode: call.scene_code,
    status: call.status,
    version: call.version,
    reservationId: call.reservation_id,
    clientRef: call.client_ref ?? null,
    createdAt: new Date(call.created_at),
    updatedAt: new Date(call.updated_at),
    resultExpiresAt: new Date(call.result_expires_at),
  };
}
