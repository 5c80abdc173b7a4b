import { z } from 'zod';
import { detectedObject } from '@vision/contracts/detection';
import { MAX_IMAGES, refusedImagesHeader } from '@vision/contracts/images';
import { processorTimeHeader } from '@vision/contracts/inference';
import type { Reply } from '@vision/shared/http/route';
import { imageFaults, refusedImages } from '../domain/image-call.ts';
import type { ImageCall, ImageEntry } from '../domain/image-call.ts';
import { DEFAULT_SCENE, MAX_IMAGE_BYTES } from '../domain/upload-rules.ts';
import type { FinishedCall } from '../use-cases/create-image-detection.ts';
import type { StoredDetection } from '../use-cases/get-image-detection.ts';

const seq = z.int().min(0).describe('Zero-based index of the image in the upload');

const succeeded = z
  .object({
    seq,
    status: z.literal('succeeded'),
    objects: z.array(detectedObject).describe('Detected objects, highest score first'),
  })
  .meta({ id: 'SucceededImage' });

const failed = z
  .object({
    seq,
    status: z.literal('failed'),
    error_code: z.enum(imageFaults).describe('Reason of the failure; failed images are not charged'),
  })
  .meta({ id: 'FailedImage' });

const imageResult = z
  .discriminatedUnion('status', [succeeded, failed])
  .meta({ id: 'ImageResult', description: 'Outcome of one image' });

/** The public form of the outcome of a call (spec 2.5). */
export const imageDetection = z
  .object({
    task_id: z.uuid().describe('Identifier of the call in the task history'),
    request_id: z.string().describe('Idempotency-Key of the call, as it was first sent'),
    status: z.literal('succeeded').describe('Status of the call; each image has its own in `results`'),
    results: z.array(imageResult).describe('One entry per image, in upload order'),
    replayed: z.literal(true).optional().describe('Present only on an idempotent replay'),
  })
  .meta({ id: 'ImageDetection', description: 'Outcome of an image call' });

/** The public form of a stored outcome. */
export const storedDetection = imageDetection
  .omit({ replayed: true })
  .extend({
    scene_code: z.string(),
    created_at: z.iso.datetime(),
    result_expires_at: z.iso.datetime().describe('Time at which the detections are deleted'),
  })
  .meta({ id: 'StoredImageDetection', description: 'Stored outcome of an image call' });

export const exampleDetection: z.infer<typeof imageDetection> = {
  task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11',
  request_id: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
  status: 'succeeded',
  results: [
    {
      seq: 0,
      status: 'succeeded',
      objects: [
        {
          label: 'person',
          score: 0.86,
          bbox: { format: 'cxcywh_normalized', cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
        },
      ],
    },
    { seq: 1, status: 'failed', error_code: 'OP-TASK-REQUEST-INVALID' },
  ],
};

export const exampleStoredDetection: z.infer<typeof storedDetection> = {
  ...exampleDetection,
  scene_code: 'person_vehicle',
  created_at: '2026-03-15T08:30:00.000Z',
  result_expires_at: '2026-06-13T08:30:00.000Z',
};

/** OpenAPI description of the multipart form of a call. */
export const form = z
  .strictObject({
    files: z
      .array(z.string().meta({ format: 'binary' }))
      .min(1)
      .max(MAX_IMAGES)
      .describe(`Image files: JPEG, PNG or WEBP, at most ${MAX_IMAGE_BYTES / 2 ** 20} MiB each, each with a file name`),
    scene_code: z.string().optional().describe(`Code of an enabled scene; default: \`${DEFAULT_SCENE}\``),
  })
  .meta({ id: 'NewImageDetection' });

/** 201 for a new call, 200 for a replay. */
export function toReply({ call, entries, replayed, processorMs }: FinishedCall): Reply {
  const body = { ...toView(call, entries), ...(replayed ? { replayed } : {}) };
  const failed = entries.filter((entry) => entry.outcome.status === 'failed').length;
  const outcome = { images_succeeded: entries.length - failed, images_failed: failed, replayed };
  if (replayed) return { status: 200, body, headers: { 'Idempotency-Replayed': 'true' }, outcome };
  const headers = {
    [processorTimeHeader]: processorMs.join(','),
    [refusedImagesHeader]: String(refusedImages(entries)),
  };
  return { status: 201, body, headers, outcome };
}

export function toStoredDetection({ call, entries }: StoredDetection) {
  return {
    ...toView(call, entries),
    scene_code: call.sceneCode,
    created_at: call.createdAt.toISOString(),
    result_expires_at: call.resultExpiresAt.toISOString(),
  };
}

const toView = (call: ImageCall, entries: ImageEntry[]) => ({
  task_id: call.taskId,
  request_id: call.requestId,
  status: 'succeeded' as const,
  results: entries.map(toResult),
});

function toResult({ seq, outcome }: ImageEntry) {
  return outcome.status === 'succeeded'
    ? { seq, status: outcome.status, objects: outcome.objects }
    : { seq, status: outcome.status, error_code: outcome.errorCode };
}
