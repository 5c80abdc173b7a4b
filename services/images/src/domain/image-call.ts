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

/** One image of a call, as it is kept. */
export interface ImageEntry {
  seq: number;
  sha256: string;
  bytes: number;
  contentType: ImageType;
  outcome: ImageOutcome;
}

/** What callers name a call by. */
export interface KeyId {
  subject: string;
  /** Lower-case Idempotency-Key. */
  key: string;
}

/** The call that a key stands for now. */
export interface KeyHolder {
  taskId: string;
  fingerprint: string;
  state: 'working' | 'undoing' | 'done';
  /** The owner deleted the call. */
  isDeleted: boolean;
  /** Abandoned before it was done: the lease of its process expired. */
  isDead: boolean;
}

/** The right to write the outcome of a call: valid until the attempt is raised. */
export interface Claim extends KeyId {
  taskId: string;
  requestId: string;
  sceneCode: string;
  /** The caller's own name for a camera or an order. */
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

/** Which entry code an error of the backend or of the store becomes; undefined for what is no expected failure. */
export function imageFaultOf(error: unknown): ImageFault | undefined {
  const code = asAppError(error)?.code;
  // The breaker was closed when the call began, so one that opened since counts as a fault of the backend.
  if (code === 'OP-TASK-BREAKER-OPEN') return 'OP-TASK-UPSTREAM-DOWN';
  return imageFaults.find((fault) => fault === code);
}

/** How many images failed because they cannot be read, and not because a service was away. */
export function refusedImages(entries: readonly ImageEntry[]): number {
  return entries.filter(({ outcome }) => outcome.status === 'failed' && outcome.errorCode === 'OP-TASK-REQUEST-INVALID')
    .length;
}

/** Whether a part of ours was away for every image; the whole call is rolled back then. */
export function failedAsAWhole(outcomes: readonly ImageOutcome[]): boolean {
  return outcomes.every((outcome) => outcome.status === 'failed' && outcome.errorCode === 'OP-SYS-UNAVAILABLE');
}

/** The event form of a call. Calls change once, so there is one version. */
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
