import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { linkInvalid, openSharedLink } from '../use-cases/open-link.ts';
import type { Deps } from '../use-cases/deps.ts';
import { hideLimits, takeToken } from './authenticate.ts';
import { forwardOn } from './forwarded-routes.ts';
import type { ForwardDeps } from './forwarded-routes.ts';
import { linkedPathOf } from './linked-path.ts';
import { networkOfRequest } from './network-of-request.ts';
import { refuseOddHeaders } from './refuse-odd-headers.ts';

type LinkDeps = ForwardDeps & Pick<Deps, 'keyCache' | 'limiter' | 'linkBox' | 'settings' | 'throttle'>;

const mediaTypes = ['video/mp4', 'video/quicktime'];
const allMediaTypes = [...mediaTypes, 'image/jpeg'];

export const getLinkRoute = (deps: LinkDeps) =>
  route(
    {
      operation: 'getLink',
      method: 'get',
      path: '/v1/vision/links/{token}',
      summary: 'Returns what a link is for',
      description:
        'Needs no key. Answers as the path of the link does. Requests count towards the rate of the subject that created it.',
      tag: 'Links',
      audience: 'public',
      authenticated: false,
      // Of any form: every invalid token is refused in the same way.
      params: z.object({ token: z.string().describe('Token of the link') }),
      responses: {
        200: { description: 'Content', mediaTypes: allMediaTypes, headers: ['Accept-Ranges', 'ETag'] },
        206: { description: 'Requested range', mediaTypes, headers: ['Accept-Ranges', 'Content-Range', 'ETag'] },
        304: { description: 'Not modified', headers: ['ETag'] },
      },
      refusalExamples: () => [
        linkInvalid(),
        fail.requestInvalid('not_an_upload', 'The task is not of an uploaded video, so no video is stored for it.'),
        fail.requestInvalid('not_a_stream', 'The task is not of a live stream.'),
        fail.notFound('There is no such task.', 'task_not_found'),
        fail.notFound('This task has no such track.', 'track_not_found'),
        fail.notFound('The video of the task is no longer stored.', 'video_not_found'),
        fail.notFound('The task was created without snapshots.', 'snapshots_off'),
        fail.notFound('No frame of the stream arrived in time; retry in some seconds.', 'snapshot_not_yet'),
        fail.notFound('There is no image of the track; `snapshot.reason` of the track says why.', 'snapshot_none'),
        fail.notFound('The inference backend creates no snapshots for the task.', 'not_supported'),
        fail.rangeUnsatisfiable(146_515),
        fail.rateLimited('rate_exceeded', 1, { limit: 'requests' }),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'video_downloads', allowed: 4 }),
        fail.rateLimited('too_many_invalid_keys', 42),
        fail.sysUnavailable('key_store_unavailable'),
        fail.sysUnavailable('tasks_unavailable'),
        fail.upstreamDown('inference_unreachable'),
        fail.sysUnavailable('results_unavailable'),
        fail.sysUnavailable('object_store_unavailable'),
      ],
    },
    async ({ params: { token }, req, res }) => {
      refuseOddHeaders(req);
      const { holder, path } = await openSharedLink(deps, token, networkOfRequest(req, deps.settings));
      const linked = linkedPathOf(path);
      if (!linked) throw linkInvalid();
      // A reader receives no information about the subject of the link.
      hideLimits(res);
      res.locals['keyId'] = holder.keyId;
      const caller = { subject: holder.subject, issuer: 'gateway' as const, limits: holder.limits };
      res.locals['caller'] = caller;
      await takeToken(deps, holder, res);
      res.set('Referrer-Policy', 'no-referrer');
      await forwardOn(deps, linked.entry, { target: linked.path, caller, req, res });
      return undefined;
    },
  );
