import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { LINK_SECONDS, sealLink } from '../domain/link.ts';
import type { Deps } from '../use-cases/deps.ts';
import { linkedPathOf } from './linked-path.ts';

const body = z
  .strictObject({
    path: z
      .string()
      .max(2048)
      .describe(
        'Path to share, without a query: `/v1/vision/tasks/{task_id}/video`, `/v1/vision/tasks/{task_id}/live-snapshot` ' +
          'or `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot`',
      ),
    expires_in_s: z.int().min(LINK_SECONDS.least).max(LINK_SECONDS.most).describe('Seconds that the link is valid for'),
  })
  .meta({ id: 'NewLink' });

const link = z
  .object({
    url: z.string().describe('Path of the link; append it to the address of the API'),
    expires_at: z.iso.datetime().describe('Time at which the link expires'),
  })
  .meta({ id: 'Link', description: 'Link that reads one path without an API key' });

export const createLinkRoute = ({ linkBox }: Pick<Deps, 'linkBox'>) =>
  route(
    {
      operation: 'createLink',
      method: 'post',
      path: '/v1/vision/links',
      summary: 'Creates a link that needs no API key',
      description:
        'The link reads one path for clients that cannot send a header, such as `<video>` and `<img>`. Everyone who has it can ' +
        'read the path until it expires or the API key that created it is revoked. The content is looked up when the link is ' +
        'used, so a link can be created for a task that does not exist.',
      tag: 'Links',
      audience: 'public',
      body,
      bodyExample: { path: '/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/video', expires_in_s: 3600 },
      responses: {
        201: {
          description: 'Link created',
          schema: link,
          example: { url: '/v1/vision/links/AXvW3kq0b2cH', expires_at: '2026-03-15T09:30:00.000Z' },
          headers: ['Cache-Control'],
        },
      },
      refusalExamples: () => [pathInvalid(), fail.sysUnavailable('links_not_configured')],
    },
    ({ body: { path, expires_in_s }, caller, res }) => {
      if (!linkBox) throw fail.sysUnavailable('links_not_configured');
      const linked = linkedPathOf(path);
      if (!linked) throw pathInvalid();
      const endsAt = Date.now() + expires_in_s * 1000;
      const keyId = String(res.locals['keyId']);
      const token = sealLink(linkBox, { subject: caller.subject, keyId, path: linked.path, endsAt });
      return Promise.resolve({
        status: 201,
        body: { url: `/v1/vision/links/${token}`, expires_at: new Date(endsAt).toISOString() },
        headers: { 'Cache-Control': 'no-store' },
      });
    },
  );

const pathInvalid = () =>
  fail.requestInvalid(
    'link_path_invalid',
    'A link can be created for the video or the live snapshot of a task and for the image of a track only: ' +
      '/v1/vision/tasks/{task_id}/video, /v1/vision/tasks/{task_id}/live-snapshot, ' +
      '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot.',
    { field: 'path' },
  );
