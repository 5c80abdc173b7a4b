import { z } from 'zod';
import { createVideoQuery } from '@vision/contracts/create-query';
import { fail } from '@vision/contracts/errors';
import { idempotencyHeaders, readIdempotencyKey } from '@vision/creation/idempotency-key';
import { requireMultipart } from '@vision/creation/multipart/read-form';
import { route } from '@vision/shared/http/route';
import { countCreate } from '../use-cases/create/count-create.ts';
import { createUploadTask, openUpload } from '../use-cases/create/create-upload-task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { receiveVideo, videoFormRefusals } from './receive-video.ts';
import { createdReply, createRefusals, createResponses } from './task-view.ts';
import { MAX_VIDEO_BYTES } from './video-meter.ts';

const form = z
  .strictObject({
    scene_code: z.string().describe('Code of an enabled scene'),
    file: z
      .string()
      .meta({ format: 'binary' })
      .describe(`Video file: MP4 or MOV content, at most ${MAX_VIDEO_BYTES / 2 ** 20} MiB, with a file name`),
  })
  .meta({ id: 'NewUploadTask' });

export const createUploadTaskRoute = (deps: Deps) =>
  route(
    {
      operation: 'createUploadTask',
      method: 'post',
      path: '/v1/vision/video-tasks',
      summary: 'Creates a video task for an uploaded file',
      description: 'Charges one unit of the daily video quota. A rejected upload is deleted and not charged.',
      tag: 'Video tasks',
      audience: 'public',
      headers: idempotencyHeaders,
      query: createVideoQuery,
      bodyDoc: {
        contentType: 'multipart/form-data',
        schema: form,
        encoding: { file: { contentType: 'video/mp4, video/quicktime' } },
      },
      responses: createResponses,
      refusalExamples: () => [
        ...videoFormRefusals(),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'video_uploads', allowed: 2 }),
        fail.rateLimited('processor_time_exceeded', 12, { limit: 'processor_time' }),
        ...createRefusals(),
      ],
    },
    async ({ req, caller, query }) => {
      const create = async () => {
        const idempotencyKey = readIdempotencyKey(req);
        requireMultipart(req);
        const request = { caller, idempotencyKey, query };
        const upload = await openUpload(deps, request);
        const { bodyIdleMs: idleMs, bodyTotalMs: totalMs } = deps.settings;
        const receiving = receiveVideo(req, { store: deps.store, objectKey: upload.objectKey, idleMs, totalMs });
        return createUploadTask(deps, request, upload, receiving);
      };
      return createdReply(await countCreate(deps.signals, 'upload', create()));
    },
  );
