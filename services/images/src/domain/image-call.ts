import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { ImageCallSnapshot } from '@vision/contracts/image-events';
import { asAppError } from '@vision/contracts/errors';
import type { ErrorCode } from '@vision/contracts/errors';
import type { ImageType } from './image-type.ts';

/** Why an image of an accepted call has no detections (`error_code` of its entry). */
export type ImageFault = (typeof imageFaults)[number];
export const imageFaults = [
  'OP-TASK-REQUEST-INVALID',
  'OP-TASK-UPSTREAM-DOWN',
  'OP-SYS-UNAVAILABLE',
] as const satisfies ErrorCode[];

/** Outcome of one image. `objectKey` is set when the image is stored. */
export type ImageOutcome =
  | { status: 'succeeded'; objectKey: string; size: ImageSize; objects: DetectedObject[] }
  | { status: 'failed'; objectKey: string | undefined; errorCode: ImageFault };

/** One stored image of a call. */
export interface ImageEntry {
  seq: number;
  sha256: string;
  bytes: number;
  contentType: ImageType;
  outcome: ImageOutcome;
}

/** How callers identify a call. */
export interface KeyId {
  subject: string;
  /** Lower-case Idempotency-Key. */
  key: string;
}

/** The call that holds a key now. */
export interface KeyHolder {
  taskId: string;
  fingerprint: string;
  state: 'working' | 'undoing' | 'done';
  /** The owner deleted the call. */
  isDeleted: boolean;
  /** Abandoned before it finished: the lease of its process expired. */
  isDead: boolean;
}

/** The right to write the outcome of a call, valid until another process claims the next attempt. */
export interface Claim extends KeyId {
  taskId: string;
  requestId: string;
  sceneCode: string;
  /** The caller's own name for the call, such as a camera or an order. */
  clientRef: string | null;
  imagesTotal: number;
  reservationId: string;
  attempt: number;
  createdAt: Date;
}

/** The record of one finished call. */
export interface ImageCall {
  taskId: string;
  subject: string;
  /** The idempotency key as the first caller sent it. */
  requestId: string;
  sceneCode: string;
  clientRef: string | null;
  imagesTotal: number;
  imagesSucceeded: number;
  reservationId: string;
  createdAt: Date;
  updatedAt: Date;
  resultExpiresAt: Date;
}

/** The `error_code` for an error of the backend or the store; undefined for an unexpected error. */
export function imageFaultOf(error: unknown): ImageFault | undefined {
  const code = asAppError(error)?.code;
  // The breaker was closed when the call began; if it opened since, that counts as a fault of the backend.
  if (code === 'OP-TASK-BREAKER-OPEN') return 'OP-TASK-UPSTREAM-DOWN';
  return imageFaults.find((fault) => fault === code);
}

/** Number of images that failed because they cannot be decoded, not because a service was unavailable. */
export function refusedImages(entries: readonly ImageEntry[]): number {
  return entries.filter(({ outcome }) => outcome.status === 'failed' && outcome.errorCode === 'OP-TASK-REQUEST-INVALID')
    .length;
}

/** Whether every image failed because a part of this service was unavailable; then the whole call is rolled back. */
export function failedAsAWhole(outcomes: readonly ImageOutcome[]): boolean {
  return outcomes.every((outcome) => outcome.status === 'failed' && outcome.errorCode === 'OP-SYS-UNAVAILABLE');
}

/** The event form of a call. A call changes only once, so its version is always 1. */
export function toSnapshot(call: ImageCall, status: ImageCallSnapshot['status']): ImageCallSnapshot {
  return {
    task_id: call.taskId,
    version: 1,
    subject: call.subject,
    request_id: call.requestId,
    scene_code: call.sceneCode,
    client_ref: call.clientRef ?? undefined,
    status,
    reservation_id: call.reservationId,
    images_total: call.imagesTotal,
    images_succeeded: call.imagesSucceeded,
    created_at: call.createdAt.toISOString(),
    updated_at: call.updatedAt.toISOString(),
    result_expires_at: call.resultExpiresAt.toISOString(),
  };
}
