import { fail } from '@vision/shared/errors';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { idempotencyHeaders, idempotencyKeyRefusals, readIdempotencyKey } from '@vision/shared/http/idempotency-key';
import { requireMultipart } from '@vision/shared/http/multipart/read-form';
import { route } from '@vision/shared/http/route';
import type { RouteContext } from '@vision/shared/http/route';
import type { Spool } from '../clients/spool.ts';
import { DEFAULT_SCENE, MAX_BODY_BYTES } from '../domain/upload-rules.ts';
import { admitImageCall } from '../use-cases/admit-image-call.ts';
import type { AdmissionDeps } from '../use-cases/admit-image-call.ts';
import { createImageDetection } from '../use-cases/create-image-detection.ts';
import type { CreateDeps } from '../use-cases/create-image-detection.ts';
import type { CallGate } from './call-gate.ts';
import { exampleDetection, form, imageDetection, toReply } from './image-detection-view.ts';
import { imageFormRefusals } from './image-form.ts';
import { receiveUpload } from './receive-upload.ts';

export type CreateRouteDeps = CreateDeps &
  AdmissionDeps & {
    spool: Spool;
    calls: CallGate;
    bodyIdleMs: number;
    bodyTotalMs: number;
  };

export const createImageDetectionRoute = (deps: CreateRouteDeps) =>
  route(
    {
      operation: 'createImageDetection',
      method: 'post',
      path: '/v1/vision/image-detections',
      summary: 'Detect objects in 1 to 10 images',
      description:
        'Synchronous. Charged by the images that succeed. A client that got no answer repeats the call with the same Idempotency-Key.',
      tag: 'Images',
      audience: 'public',
      headers: idempotencyHeaders,
      bodyDoc: {
        contentType: 'multipart/form-data',
        schema: form,
        encoding: { files: { contentType: 'image/jpeg, image/png, image/webp' } },
      },
      responses: {
        201: { description: 'The outcome of every image', schema: imageDetection, example: exampleDetection },
        200: {
          description: 'The original outcome of this Idempotency-Key',
          schema: imageDetection,
          example: { ...exampleDetection, replayed: true },
          headers: ['Idempotency-Replayed'],
        },
      },
      refusalExamples: () => [
        ...idempotencyKeyRefusals(),
        fail.keyReused(),
        ...imageFormRefusals(),
        fail.sceneUnavailable('helmet'),
        fail.dailyExhausted({ limit: 100, used: 95, requested: 10, resets_at: '2026-03-16T00:00:00+08:00' }),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'image_calls', allowed: 20 }),
        fail.breakerOpen(5),
        fail.maintenance(),
        fail.sysUnavailable('first_call_still_running'),
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
