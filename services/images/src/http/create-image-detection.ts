import { z } from 'zod';
import { detectedObject } from '@vision/shared/contracts/detection';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { readIdempotencyKey } from '@vision/shared/http/idempotency-key';
import { requireMultipart } from '@vision/shared/http/multipart/read-form';
import { route } from '@vision/shared/http/route';
import type { RouteContext } from '@vision/shared/http/route';
import type { Spool } from '../clients/spool.ts';
import { imageFaults } from '../domain/image-call.ts';
import type { ImageEntry } from '../domain/image-call.ts';
import { DEFAULT_SCENE, MAX_BODY_BYTES } from '../domain/upload-rules.ts';
import { admitImageCall } from '../use-cases/admit-image-call.ts';
import type { AdmissionDeps } from '../use-cases/admit-image-call.ts';
import { createImageDetection } from '../use-cases/create-image-detection.ts';
import type { CreateDeps, FinishedCall } from '../use-cases/create-image-detection.ts';
import type { CallGate } from './call-gate.ts';
import { receiveUpload } from './receive-upload.ts';

export type CreateRouteDeps = CreateDeps &
  AdmissionDeps & {
    spool: Spool;
    calls: CallGate;
    bodyIdleMs: number;
    bodyTotalMs: number;
  };

const resultEntry = z.object({
  seq: z.int().min(0).describe('Position of the image in the upload, from 0'),
  status: z.enum(['succeeded', 'failed']),
  objects: z.array(detectedObject).optional().describe('Detections, highest score first; on succeeded entries'),
  error_code: z.enum(imageFaults).optional().describe('On failed entries; failed images are not charged'),
});

const imageDetection = z.object({
  task_id: z.uuid(),
  request_id: z.string().describe('The Idempotency-Key as it was first sent'),
  status: z.literal('succeeded'),
  results: z.array(resultEntry).describe('One entry per image, in upload order'),
  replayed: z.literal(true).optional().describe('Only on a replay'),
});

const form = z.object({
  files: z
    .array(z.string().meta({ format: 'binary' }))
    .describe('1 to 10 images, JPEG, PNG or WEBP, 8 MiB each at most'),
  scene_code: z.string().default(DEFAULT_SCENE).describe('An enabled scene'),
});

export const createImageDetectionRoute = (deps: CreateRouteDeps) =>
  route(
    {
      operation: 'createImageDetection',
      method: 'post',
      path: '/v1/vision/image-detections',
      summary: 'Detect objects in 1 to 10 images',
      description:
        'Synchronous. Charged by the images that succeed. A client that got no answer repeats the call with the same Idempotency-Key.',
      audience: 'public',
      headers: z.object({ 'Idempotency-Key': z.guid().describe('A UUID of your own, one per request') }),
      bodyDoc: { contentType: 'multipart/form-data', schema: form },
      responses: {
        201: { description: 'Detections of every image', schema: imageDetection },
        200: {
          description: 'The original result of this Idempotency-Key',
          schema: imageDetection,
          headers: { 'Idempotency-Replayed': 'Always true' },
        },
      },
      errors: [
        'OP-AUTH-REQUIRED',
        'OP-TASK-REQUEST-INVALID',
        'OP-TASK-SCENE-UNAVAILABLE',
        'OP-QUOTA-DAILY-EXHAUSTED',
        'OP-QUOTA-RATE-LIMITED',
        'OP-TASK-BREAKER-OPEN',
        'OP-SYS-UNAVAILABLE',
      ],
    },
    (context) => deps.calls.run(() => handle(deps, context)),
  );

async function handle(deps: CreateRouteDeps, { req, caller, signal }: RouteContext<unknown, unknown, unknown>) {
  const { key, sent } = readIdempotencyKey(req);
  requireMultipart(req);
  const admission = await admitImageCall(deps, caller, key);
  const session = deps.spool.openSession();
  try {
    const limits = { maxBytes: MAX_BODY_BYTES, idleMs: deps.bodyIdleMs, totalMs: deps.bodyTotalMs };
    const { images, sceneCode } = await receiveUpload(req, { session, limits, admission });
    const finished = await createImageDetection(deps, {
      subject: caller.subject,
      dailyLimit: (caller.limits ?? defaultLimits).images_per_day,
      key,
      requestId: sent,
      sceneCode: sceneCode ?? DEFAULT_SCENE,
      images,
      assertAccepting: admission.assertAccepting,
      signal,
    });
    return toReply(finished);
  } finally {
    await session.close();
  }
}

function toReply({ call, entries, replayed }: FinishedCall) {
  const body = {
    task_id: call.taskId,
    request_id: call.requestId,
    status: 'succeeded',
    results: entries.map(toResult),
    ...(replayed ? { replayed } : {}),
  };
  return replayed ? { status: 200, body, headers: { 'Idempotency-Replayed': 'true' } } : { status: 201, body };
}

function toResult({ seq, outcome }: ImageEntry) {
  return outcome.status === 'succeeded'
    ? { seq, status: outcome.status, objects: outcome.objects }
    : { seq, status: outcome.status, error_code: outcome.errorCode };
}
