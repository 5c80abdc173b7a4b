import type { IncomingHttpHeaders } from 'node:http';
import { paramsOf } from '@vision/contracts/ids';
import { refusedPicturesHeader, refusedPicturesOf } from '@vision/contracts/images';
import { processorTimeHeader, processorTimesOf } from '@vision/contracts/inference';
import { outcomeHeader, readOutcome } from '@vision/contracts/outcome';
import { pathTo } from '@vision/contracts/question';
import { route } from '@vision/shared/http/route';
import type { Method, Route, RouteContext } from '@vision/shared/http/route';
import { noteOutcome } from '@vision/shared/http/server-span';
import type { Owner } from '../clients/owners.ts';
import type { SlotKind } from '../clients/slots.ts';
import type { Spent } from '../domain/processor-budget.ts';
import type { Deps } from '../use-cases/deps.ts';
import { cutOf } from './cut-reason.ts';
import { inSlot, isCharged } from './in-slot.ts';
import { untilKeyEnds } from './until-key-ends.ts';
import type { KeyEndDeps } from './until-key-ends.ts';

export type ForwardDeps = Pick<Deps, 'forward' | 'slots' | 'processorBudgets' | 'signals'> & KeyEndDeps;

export interface Forwarded {
  operation: string;
  method: Method;
  path: string;
  owner: Owner;
  /** Requests of this kind are limited in number at once. */
  slot?: SlotKind;
  /** The answer goes on for minutes: it ends with the key it was asked with. */
  isStream?: boolean;
  /** A link that needs no key can be created for it. */
  isLinkable?: boolean;
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
  {
    operation: 'getTaskVideo',
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/video',
    owner: 'tasks',
    slot: 'video_downloads',
    isLinkable: true,
  },
  {
    operation: 'createStreamProbe',
    method: 'post',
    path: '/v1/vision/stream-probes',
    owner: 'tasks',
    slot: 'stream_probes',
  },
  {
    operation: 'getLiveSnapshot',
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/live-snapshot',
    owner: 'tasks',
    isLinkable: true,
  },
  { operation: 'stopTask', method: 'post', path: '/v1/vision/tasks/{task_id}/stop', owner: 'tasks' },
  { operation: 'deleteTask', method: 'delete', path: '/v1/vision/tasks/{task_id}', owner: 'tasks' },
  { operation: 'getResults', method: 'get', path: '/v1/vision/tasks/{task_id}/results', owner: 'results' },
  { operation: 'listTracks', method: 'get', path: '/v1/vision/tasks/{task_id}/tracks', owner: 'results' },
  { operation: 'getTimeline', method: 'get', path: '/v1/vision/tasks/{task_id}/timeline', owner: 'results' },
  { operation: 'getTrack', method: 'get', path: '/v1/vision/tasks/{task_id}/tracks/{track_id}', owner: 'results' },
  {
    operation: 'getTrackSnapshot',
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot',
    owner: 'results',
    isLinkable: true,
  },
  {
    operation: 'getResultStream',
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/results/stream',
    owner: 'results',
    slot: 'event_streams',
    isStream: true,
  },
  { operation: 'getSource', method: 'get', path: '/v1/vision/tasks/{task_id}/source', owner: 'results' },
  {
    operation: 'createAlarmBacktest',
    method: 'post',
    path: '/v1/vision/alarm-backtests',
    owner: 'results',
    slot: 'alarm_backtests',
  },
  {
    operation: 'createImageDetection',
    method: 'post',
    path: '/v1/vision/image-detections',
    owner: 'images',
    slot: 'image_calls',
  },
  {
    operation: 'getImageDetection',
    method: 'get',
    path: '/v1/vision/image-detections/{task_id}',
    owner: 'images',
  },
  { operation: 'listEvents', method: 'get', path: '/v1/vision/events', owner: 'notify' },
  {
    operation: 'getEventStream',
    method: 'get',
    path: '/v1/vision/events/stream',
    owner: 'notify',
    slot: 'event_streams',
    isStream: true,
  },
  { operation: 'listAlarmRules', method: 'get', path: '/v1/vision/alarm-rules', owner: 'notify' },
  { operation: 'getAlarmRule', method: 'get', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify' },
  { operation: 'putAlarmRule', method: 'put', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify' },
  { operation: 'deleteAlarmRule', method: 'delete', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify' },
  { operation: 'listAlarms', method: 'get', path: '/v1/vision/alarms', owner: 'notify' },
  { operation: 'getAlarm', method: 'get', path: '/v1/vision/alarms/{alarm_id}', owner: 'notify' },
  { operation: 'reviewAlarm', method: 'put', path: '/v1/vision/alarms/{alarm_id}/review', owner: 'notify' },
  {
    operation: 'listWebhookEndpoints',
    method: 'get',
    path: '/v1/vision/webhook-endpoints',
    owner: 'notify',
  },
  {
    operation: 'putWebhookEndpoint',
    method: 'put',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
  },
  {
    operation: 'getWebhookEndpoint',
    method: 'get',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
  },
  {
    operation: 'deleteWebhookEndpoint',
    method: 'delete',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
  },
  {
    operation: 'rotateWebhookSecret',
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/rotate-secret',
    owner: 'notify',
  },
  {
    operation: 'testWebhookEndpoint',
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/test',
    owner: 'notify',
  },
  {
    operation: 'recoverWebhookEndpoint',
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/recover',
    owner: 'notify',
  },
  {
    operation: 'listWebhookDeliveries',
    method: 'get',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/deliveries',
    owner: 'notify',
  },
  {
    operation: 'redeliverWebhook',
    method: 'post',
    path: '/v1/vision/webhook-deliveries/{delivery_id}/redeliver',
    owner: 'notify',
  },
  { operation: 'listMqttEndpoints', method: 'get', path: '/v1/vision/mqtt-endpoints', owner: 'notify' },
  { operation: 'putMqttEndpoint', method: 'put', path: '/v1/vision/mqtt-endpoints/{endpoint_id}', owner: 'notify' },
  { operation: 'getMqttEndpoint', method: 'get', path: '/v1/vision/mqtt-endpoints/{endpoint_id}', owner: 'notify' },
  {
    operation: 'deleteMqttEndpoint',
    method: 'delete',
    path: '/v1/vision/mqtt-endpoints/{endpoint_id}',
    owner: 'notify',
  },
  { operation: 'getUsage', method: 'get', path: '/v1/vision/usage', owner: 'quota' },
  { operation: 'getUsageDays', method: 'get', path: '/v1/vision/usage/days', owner: 'quota' },
];

export function forwardedRoutes(deps: ForwardDeps): Route[] {
  return forwarded.map((entry) => forwardedRoute(deps, entry));
}

function forwardedRoute(deps: ForwardDeps, entry: Forwarded): Route {
  const { operation, method, path, owner } = entry;
  return route(
    {
      operation,
      method,
      path,
      summary: `Passed on to ${owner}`,
      audience: 'public',
      isForwarded: true,
      // An id that has not the form of its name names nothing, so it is 404 here already.
      params: paramsOf(path),
      responses: {},
    },
    async ({ params, caller, req, res }) => {
      // Built anew from its parsed parts, so that no spelling of a path means one thing here and another there.
      const target = pathTo(path, params, undefined) + queryOf(req.originalUrl);
      await forwardOn(deps, entry, { target, caller, req, res });
      return undefined;
    },
  );
}

/** A request on its way to the owner of an operation; `target` is path and query there. */
type Passage = Pick<RouteContext<unknown, unknown, unknown>, 'caller' | 'req' | 'res'> & { target: string };

/** Passes a request on, in a request slot where the operation needs one. */
export async function forwardOn(
  deps: ForwardDeps,
  { operation, owner, slot: kind, isStream = false }: Forwarded,
  { target: path, caller, req, res }: Passage,
): Promise<void> {
  const forwardTo = async () => {
    // Its cost is read from the answer of work that goes on when the client has left.
    const isAnswerAwaited = kind !== undefined && isCharged(kind);
    const cut = () => cutOf(res);
    const onAnswer = (headers: IncomingHttpHeaders) => noteOutcome(res, readOutcome(headers[outcomeHeader]));
    const ending = isStream ? untilKeyEnds(deps, req, res) : undefined;
    const way = { operation, owner, path, caller, isAnswerAwaited, ending, cut, onAnswer };
    const answer = await deps.forward(req, res, way);
    await deps.processorBudgets.charge(caller.subject, costOf(answer));
  };
  const reported = () => reportingFailures(deps, owner, forwardTo);
  await (kind ? inSlot(deps, { kind, caller, res }, reported) : reported());
}

async function reportingFailures({ signals }: ForwardDeps, owner: Owner, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    signals.upstreamFailed(owner, error);
    throw error;
  }
}

/** The cost of the work on a request, as the service tells that did it. */
function costOf(answer: IncomingHttpHeaders): Spent {
  return {
    processorMs: processorTimesOf(answer[processorTimeHeader]),
    refusedPictures: refusedPicturesOf(answer[refusedPicturesHeader]),
  };
}

function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at);
}
