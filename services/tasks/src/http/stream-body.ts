import { z } from 'zod';
import { createStreamQuery } from '@vision/contracts/create-query';
import { fail } from '@vision/contracts/errors';
import { parseStreamUrl } from '@vision/streams/stream-url';
import type { StreamUrl } from '@vision/streams/stream-url';
import type { Deps } from '../use-cases/deps.ts';

export const sceneCode = z.string().min(1).max(200).describe('Code of an enabled scene');
export const streamUrl = z
  .string()
  .describe(
    'Address of the stream: http, https, rtsp or rtmp, optionally with user name and password. The host is a public ' +
      'IP address or a fully qualified name (`camera.example.org`, not `camera`). The port must be one that ' +
      'streams commonly use.',
  );

const isQueryField = (field: string) => Object.hasOwn(createStreamQuery.shape, field);

interface StreamBody {
  stream_url: string;
  scene_code?: string | undefined;
}

/**
 * Parses a body with a stream address. Among several faults, a bad `stream_url` is reported.
 * @throws AppError OP-TASK-REQUEST-INVALID.
 */
export function parseStreamBody<B extends StreamBody>(
  { policy }: { policy: Pick<Deps['policy'], 'checkLiteral' | 'checkPort'> },
  body: z.ZodType<B>,
  json: unknown,
): { sceneCode: B['scene_code']; url: StreamUrl } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw fail.requestInvalid('body_invalid', 'Send a JSON object.');
  }
  const url = parseStreamUrl('stream_url' in json ? json.stream_url : undefined, policy);
  const parsed = body.safeParse(json);
  if (parsed.success) return { sceneCode: parsed.data.scene_code, url };
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const field = String(issue.keys[0]).slice(0, 200);
    const advice = isQueryField(field) ? 'Send it in the query, not in the body' : 'This operation does not accept it';
    throw fail.requestInvalid('unknown_field', `${field}: ${advice}.`, { field });
  }
  throw fail.requestInvalid('scene_code_invalid', 'Send scene_code as a text.', { field: 'scene_code' });
}
