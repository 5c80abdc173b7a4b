import type { IncomingMessage } from 'node:http';
import { GateFullError } from '@vision/shared/async/gate';
import { createQuery } from '@vision/contracts/create-query';
import type { CreateQuery } from '@vision/contracts/create-query';
import { fail } from '@vision/contracts/errors';
import { idempotencyHeaders, idempotencyKeyRefusals, readIdempotencyKey } from '@vision/creation/idempotency-key';
import type { Form } from '@vision/creation/multipart/form';
import { readForm, requireMultipart } from '@vision/creation/multipart/read-form';
import { route } from '@vision/shared/http/route';
import type { RouteContext } from '@vision/shared/http/route';
import { DEFAULT_SCENE } from '../domain/upload-rules.ts';
import { createImageDetection, openCall } from '../use-cases/create-image-detection.ts';
import type { CreateDeps, Upload } from '../use-cases/create-image-detection.ts';
import type { Deps } from '../use-cases/deps.ts';
import type { ReceivedImage } from '../use-cases/process-image.ts';
import { exampleDetection, form, imageDetection, toReply } from './image-detection-view.ts';
import { imageForm, imageFormRefusals } from './image-form.ts';

type RouteDeps = CreateDeps & Pick<Deps, 'spool' | 'callGate'>;

export const createImageDetectionRoute = (deps: RouteDeps) =>
  route(
    {
      operation: 'createImageDetection',
      method: 'post',
      path: '/v1/vision/image-detections',
      summary: 'Detects objects in 1 to 10 images',
      description:
        'Returns the detections in the response. Each image that succeeds is charged one unit of the daily image quota. A ' +
        'client that receives no response repeats the call with the same Idempotency-Key.',
      tag: 'Images',
      audience: 'public',
      headers: idempotencyHeaders,
      query: createQuery,
      bodyDoc: {
        contentType: 'multipart/form-data',
        schema: form,
        encoding: { files: { contentType: 'image/jpeg, image/png, image/webp' } },
      },
      responses: {
        201: { description: 'Outcome of each image', schema: imageDetection, example: exampleDetection },
        200: {
          description: 'Idempotent replay: original outcome of each image',
          schema: imageDetection,
          example: { ...exampleDetection, replayed: true },
          headers: ['Idempotency-Replayed'],
        },
      },
      refusalExamples: () => [
        ...idempotencyKeyRefusals(),
        fail.keyReused(),
        fail.notFound('The image call was deleted.', 'task_not_found'),
        ...imageFormRefusals(),
        fail.sceneUnavailable('helmet'),
        fail.dailyExhausted({ limit: 100, used: 95, requested: 10, resets_at: '2026-03-16T00:00:00+08:00' }),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'image_calls', allowed: 20 }),
        fail.rateLimited('processor_time_exceeded', 12, { limit: 'processor_time' }),
        fail.breakerOpen(5),
        fail.maintenance(),
        fail.sysUnavailable('first_call_still_running'),
      ],
    },
    async (context) => {
      try {
        return await deps.callGate.run(() => handle(deps, context), { owner: context.caller.subject });
      } catch (error) {
        throw error instanceof GateFullError ? fail.sysUnavailable('too_many_calls', error, 1) : error;
      }
    },
  );

async function handle(deps: RouteDeps, { req, caller, query, signal }: RouteContext<unknown, CreateQuery, unknown>) {
  const idempotencyKey = readIdempotencyKey(req);
  requireMultipart(req);
  const session = deps.spool.openSession();
  try {
    const call = { caller, idempotencyKey, query, signal };
    const opened = await openCall(deps, call);
    const form = imageForm(session, deps.settings);
    return toReply(await createImageDetection(deps, call, opened, readUpload(req, form, opened.refused)));
  } finally {
    await session.close();
  }
}

/** Rejects once writing has ended: with the first fault, or with the reason of `refused`. */
async function readUpload(
  req: IncomingMessage,
  form: Form<ReceivedImage, 'scene_code'>,
  refused: AbortSignal,
): Promise<Upload> {
  const { files, values } = await readForm(req, form, refused);
  return { images: files, sceneCode: values.get('scene_code') ?? DEFAULT_SCENE };
}
