import { z } from 'zod';
import { createStreamQuery } from '@vision/contracts/create-query';
import { refusalOf } from '@vision/contracts/errors';
import { idempotencyHeaders, readIdempotencyKey } from '@vision/creation/idempotency-key';
import type { AppError } from '@vision/contracts/errors';
import { readJson } from '@vision/shared/http/json-body';
import { route } from '@vision/shared/http/route';
import { countCreate } from '../use-cases/create/count-create.ts';
import { openCreate } from '../use-cases/create/create-key.ts';
import { createStreamTask } from '../use-cases/create/create-stream-task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { tooManyPerMinute } from '../use-cases/create/probe-limits.ts';
import { streamUnreachable } from '../use-cases/create/probe-stream.ts';
import { parseStreamBody, sceneCode, streamUrl } from './stream-body.ts';
import { createdReply, createRefusals, createResponses } from './task-view.ts';

const body = z.strictObject({ scene_code: sceneCode, stream_url: streamUrl }).meta({ id: 'NewStreamTask' });

export const createStreamTaskRoute = (deps: Deps) =>
  route(
    {
      operation: 'createStreamTask',
      method: 'post',
      path: '/v1/vision/tasks',
      summary: 'Creates a video task for a live stream',
      description:
        'Charges one unit of the daily video quota. An invalid `stream_url` is rejected immediately. If the stream ' +
        'cannot be reached, no task is created and no unit is charged. The reason is not disclosed, and the response ' +
        'time does not depend on it. Stream probes are limited per minute and by concurrency (`probe_rate`).',
      tag: 'Video tasks',
      audience: 'public',
      headers: idempotencyHeaders,
      query: createStreamQuery,
      bodyDoc: {
        contentType: 'application/json',
        schema: body,
        example: { scene_code: 'person_vehicle', stream_url: 'rtsp://user:secret@camera.example.org/yard' },
      },
      responses: createResponses,
      refusalExamples: () => [...bodyRefusals(), streamUnreachable(), tooManyPerMinute(20_000), ...createRefusals()],
    },
    async ({ req, caller, query }) => {
      const create = async () => {
        const request = { caller, idempotencyKey: readIdempotencyKey(req), query };
        const opened = await openCreate(deps, request);
        return createStreamTask(deps, request, opened, parseStreamBody(deps, body, await readJson(req)));
      };
      return createdReply(await countCreate(deps.signals, 'stream', create()));
    },
  );

function bodyRefusals(): AppError[] {
  const policy = { checkLiteral: () => undefined, checkPort: () => undefined };
  const stream_url = 'rtsp://camera.example.org/yard';
  const bodies = [
    { scene_code: 'ship', stream_url: 'ftp://camera.example.org/yard' },
    { scene_code: 'ship', stream_url, colour: 'red' },
    { stream_url },
  ];
  return bodies.map((json) => refusalOf(() => parseStreamBody({ policy }, body, json)));
}
