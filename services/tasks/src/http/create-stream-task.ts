import { z } from 'zod';
import { createQuery } from '@vision/contracts/create-query';
import { fail, refusalOf } from '@vision/contracts/errors';
import { idempotencyHeaders, readIdempotencyKey } from '@vision/creation/idempotency-key';
import type { AppError } from '@vision/contracts/errors';
import { readJson } from '@vision/shared/http/json-body';
import { route } from '@vision/shared/http/route';
import { parseStreamUrl } from '@vision/streams/stream-url';
import type { StreamUrl } from '@vision/streams/stream-url';
import { countCreate } from '../use-cases/count-create.ts';
import { createStreamTask } from '../use-cases/create-stream-task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { tooManyPerMinute } from '../use-cases/probe-limits.ts';
import { streamUnreachable } from '../use-cases/probe-stream.ts';
import { createdReply, createRefusals, createResponses } from './task-view.ts';

const body = z
  .strictObject({
    scene_code: z.string().min(1).max(200).describe('Code of an enabled scene'),
    stream_url: z
      .string()
      .describe(
        'Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public ' +
          'IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that ' +
          'streams commonly use.',
      ),
  })
  .meta({ id: 'NewStreamTask' });

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
      query: createQuery,
      bodyDoc: {
        contentType: 'application/json',
        schema: body,
        example: { scene_code: 'person_vehicle', stream_url: 'rtsp://user:secret@camera.example.org/yard' },
      },
      responses: createResponses,
      refusalExamples: () => [...bodyRefusals(), streamUnreachable(), tooManyPerMinute(20_000), ...createRefusals()],
    },
    async ({ req, caller, query }) => {
      const create = async () =>
        createStreamTask(deps, {
          caller,
          idempotencyKey: readIdempotencyKey(req),
          query,
          readBody: async () => parseBody(deps, await readJson(req)),
        });
      return createdReply(await countCreate(deps.signals, 'stream', create));
    },
  );

/** With several faults, a bad `stream_url` is the one that is reported. */
function parseBody(
  { policy }: { policy: Pick<Deps['policy'], 'checkLiteral' | 'checkPort'> },
  json: unknown,
): { sceneCode: string; url: StreamUrl } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw fail.requestInvalid('body_invalid', 'Send a JSON object.');
  }
  const url = parseStreamUrl('stream_url' in json ? json.stream_url : undefined, policy);
  const parsed = body.safeParse(json);
  if (parsed.success) return { sceneCode: parsed.data.scene_code, url };
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    throw fail.requestInvalid('unknown_field', 'The body holds a field that is not known.', {
      field: String(issue.keys[0]).slice(0, 200),
    });
  }
  throw fail.requestInvalid('scene_code_invalid', 'Send scene_code as a text.', { field: 'scene_code' });
}

function bodyRefusals(): AppError[] {
  const policy = { checkLiteral: () => undefined, checkPort: () => undefined };
  const stream_url = 'rtsp://camera.example.org/yard';
  const bodies = [
    { scene_code: 'ship', stream_url: 'ftp://camera.example.org/yard' },
    { scene_code: 'ship', stream_url, colour: 'red' },
    { stream_url },
  ];
  return bodies.map((json) => refusalOf(() => parseBody({ policy }, json)));
}
