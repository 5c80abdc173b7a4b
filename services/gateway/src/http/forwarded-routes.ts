import { z } from 'zod';
import type { Response } from 'express';
import { taskPath } from '@vision/shared/contracts/ids';
import { fail } from '@vision/shared/errors';
import type { Caller } from '@vision/shared/http/caller';
import { route } from '@vision/shared/http/route';
import type { Method, Route } from '@vision/shared/http/route';
import { mintServiceToken } from '@vision/shared/http/service-token';
import type { Forward } from '../clients/forward.ts';
import type { Owner } from '../clients/owners.ts';
import type { Slot, SlotKind, Slots } from '../clients/slots.ts';
import type { Signals } from '../signals.ts';
import { addLimit } from './authenticate.ts';

export interface ForwardDeps {
  forward: Forward;
  slots: Slots;
  urls: Record<Owner, string>;
  tokenKey: string;
  signals: Signals;
}

interface Forwarded {
  operation: string;
  method: Method;
  path: string;
  owner: Owner;
  /** Requests of this kind are limited in number at once. */
  slot?: SlotKind;
}

/** Which service answers what. The owner of a route declares and documents it; this is only the way there. */
export const forwarded: Forwarded[] = [
  { operation: 'createStreamTask', method: 'post', path: '/v1/vision/tasks', owner: 'tasks' },
  { operation: 'listTasks', method: 'get', path: '/v1/vision/tasks', owner: 'tasks' },
  {
    operation: 'createUploadTask',
    method: 'post',
    path: '/v1/vision/video-tasks',
    owner: 'tasks',
    slot: 'video_uploads',
  },
  { operation: 'getTask', method: 'get', path: '/v1/vision/tasks/{task_id}', owner: 'tasks' },
  { operation: 'stopTask', method: 'post', path: '/v1/vision/tasks/{task_id}/stop', owner: 'tasks' },
  { operation: 'getResults', method: 'get', path: '/v1/vision/tasks/{task_id}/results', owner: 'results' },
  {
    operation: 'createImageDetection',
    method: 'post',
    path: '/v1/vision/image-detections',
    owner: 'images',
    slot: 'image_calls',
  },
  { operation: 'getUsage', method: 'get', path: '/v1/vision/usage', owner: 'quota' },
];

export function forwardedRoutes(deps: ForwardDeps): Route[] {
  return forwarded.map((entry) => forwardedRoute(deps, entry));
}

function forwardedRoute(deps: ForwardDeps, { operation, method, path, owner, slot: kind }: Forwarded): Route {
  // An id that is no UUID names nothing, so it is 404 here already.
  const params: z.ZodType<Record<string, string>> = path.includes('{') ? taskPath : z.object({});
  return route(
    { operation, method, path, summary: `Passed on to ${owner}`, audience: 'public', params, responses: {} },
    async ({ params, caller, req, res }) => {
      const slot = kind ? await takeSlot(deps, { kind, caller, res }) : undefined;
      try {
        const token = await mintServiceToken(caller, { key: deps.tokenKey, audience: owner });
        const target = { name: owner, url: deps.urls[owner] + fill(path, params) + queryOf(req.originalUrl), token };
        await deps.forward(req, res, target);
      } catch (error) {
        deps.signals.upstreamFailed(owner);
        throw error;
      } finally {
        slot?.release();
      }
      return undefined;
    },
  );
}

async function takeSlot(
  { slots, signals }: ForwardDeps,
  { kind, caller, res }: { kind: SlotKind; caller: Caller; res: Response },
): Promise<Slot> {
  const limit = caller.limits?.[kind] ?? 0;
  const slot = await slots.take(caller.subject, kind, limit);
  signals.limitDecided(kind, slot ? 'allowed' : 'refused');
  const policy = { name: kind, quota: limit, unit: 'concurrent-requests' } as const;
  addLimit(res, policy, { name: kind, remaining: slot?.remaining ?? 0 });
  if (!slot) throw fail.rateLimited('too_many_in_flight', 1, { limit: kind, allowed: limit });
  return slot;
}

/** The path is built anew from its parsed parts, so that no spelling of it means one thing here and another there. */
function fill(path: string, params: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
}

function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at);
}
