import type { TaskHistory } from '@vision/contracts/history';
import { eventsOf } from '@vision/kafka/outbox-history';
import { findAnyImageCall } from '../db/image-calls.ts';
import type { Deps } from './deps.ts';

/** A finished image call of any owner; undefined for an unknown id. */
export async function describeImageCall({ db }: Pick<Deps, 'db'>, taskId: string): Promise<TaskHistory | undefined> {
  const call = await findAnyImageCall(db, taskId);
  if (!call) return undefined;
  const facts = {
    subject: call.subject,
    request_id: call.requestId,
    scene_code: call.sceneCode,
    images_total: call.imagesTotal,
    images_succeeded: call.imagesSucceeded,
    reservation_id: call.reservationId,
    result_expires_at: call.resultExpiresAt.toISOString(),
  };
  const happenings = [
    { at: call.createdAt.toISOString(), what: 'the image call arrived', details: {} },
    { at: call.updatedAt.toISOString(), what: 'the image call was answered', details: {} },
    ...(await eventsOf(db, taskId)),
  ];
  return { facts, happenings };
}
