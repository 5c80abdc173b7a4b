import type { SubjectLimits } from './limits.ts';
import type { KeyScope, RequiredScope } from './scopes.ts';

/** The services that answer public operations behind the gateway. */
export type Owner = 'tasks' | 'images' | 'results' | 'quota' | 'notify';

/** Kinds of requests of which a subject may have only some at once; the names of the limits. */
export type SlotKind = keyof Pick<
  SubjectLimits,
  'image_calls' | 'video_uploads' | 'video_downloads' | 'event_streams' | 'alarm_backtests' | 'stream_probes'
>;

/** A public operation that the gateway passes on: who answers it and who may call it. Its owner documents it. */
export interface PublicOperation {
  operation: string;
  method: 'get' | 'post' | 'put' | 'delete';
  path: string;
  owner: Owner;
  /**
   * The scope that a key needs. `read` changes nothing; `create` spends units, and stops or deletes what they paid for;
   * `notify` decides what raises alarms and where events are sent.
   */
  scope: KeyScope;
  /** Requests of this kind are limited in number at once. */
  slot?: SlotKind;
  /** The answer goes on for minutes: it ends with the key it was asked with. */
  isStream?: boolean;
  /** A link that needs no key can be created for it. */
  isLinkable?: boolean;
}

const operations: Record<string, Omit<PublicOperation, 'operation'>> = {
  createStreamTask: { method: 'post', path: '/v1/vision/tasks', owner: 'tasks', scope: 'create' },
  listTasks: { method: 'get', path: '/v1/vision/tasks', owner: 'tasks', scope: 'read' },
  createUploadTask: {
    method: 'post',
    path: '/v1/vision/video-tasks',
    owner: 'tasks',
    scope: 'create',
    slot: 'video_uploads',
  },
  getTask: { method: 'get', path: '/v1/vision/tasks/{task_id}', owner: 'tasks', scope: 'read' },
  getTaskVideo: {
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/video',
    owner: 'tasks',
    scope: 'read',
    slot: 'video_downloads',
    isLinkable: true,
  },
  createStreamProbe: {
    method: 'post',
    path: '/v1/vision/stream-probes',
    owner: 'tasks',
    scope: 'create',
    slot: 'stream_probes',
  },
  getLiveSnapshot: {
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/live-snapshot',
    owner: 'tasks',
    scope: 'read',
    isLinkable: true,
  },
  stopTask: { method: 'post', path: '/v1/vision/tasks/{task_id}/stop', owner: 'tasks', scope: 'create' },
  deleteTask: { method: 'delete', path: '/v1/vision/tasks/{task_id}', owner: 'tasks', scope: 'create' },
  getResults: { method: 'get', path: '/v1/vision/tasks/{task_id}/results', owner: 'results', scope: 'read' },
  listTracks: { method: 'get', path: '/v1/vision/tasks/{task_id}/tracks', owner: 'results', scope: 'read' },
  getTimeline: { method: 'get', path: '/v1/vision/tasks/{task_id}/timeline', owner: 'results', scope: 'read' },
  getTrack: { method: 'get', path: '/v1/vision/tasks/{task_id}/tracks/{track_id}', owner: 'results', scope: 'read' },
  getTrackSnapshot: {
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot',
    owner: 'results',
    scope: 'read',
    isLinkable: true,
  },
  getResultStream: {
    method: 'get',
    path: '/v1/vision/tasks/{task_id}/results/stream',
    owner: 'results',
    scope: 'read',
    slot: 'event_streams',
    isStream: true,
  },
  getSource: { method: 'get', path: '/v1/vision/tasks/{task_id}/source', owner: 'results', scope: 'read' },
  createAlarmBacktest: {
    method: 'post',
    path: '/v1/vision/alarm-backtests',
    owner: 'results',
    scope: 'read',
    slot: 'alarm_backtests',
  },
  createImageDetection: {
    method: 'post',
    path: '/v1/vision/image-detections',
    owner: 'images',
    scope: 'create',
    slot: 'image_calls',
  },
  getImageDetection: { method: 'get', path: '/v1/vision/image-detections/{task_id}', owner: 'images', scope: 'read' },
  listEvents: { method: 'get', path: '/v1/vision/events', owner: 'notify', scope: 'read' },
  getEventStream: {
    method: 'get',
    path: '/v1/vision/events/stream',
    owner: 'notify',
    scope: 'read',
    slot: 'event_streams',
    isStream: true,
  },
  listAlarmRules: { method: 'get', path: '/v1/vision/alarm-rules', owner: 'notify', scope: 'read' },
  getAlarmRule: { method: 'get', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify', scope: 'read' },
  putAlarmRule: { method: 'put', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify', scope: 'notify' },
  deleteAlarmRule: { method: 'delete', path: '/v1/vision/alarm-rules/{rule_id}', owner: 'notify', scope: 'notify' },
  listAlarms: { method: 'get', path: '/v1/vision/alarms', owner: 'notify', scope: 'read' },
  getAlarm: { method: 'get', path: '/v1/vision/alarms/{alarm_id}', owner: 'notify', scope: 'read' },
  reviewAlarm: { method: 'put', path: '/v1/vision/alarms/{alarm_id}/review', owner: 'notify', scope: 'notify' },
  listWebhookEndpoints: { method: 'get', path: '/v1/vision/webhook-endpoints', owner: 'notify', scope: 'notify' },
  putWebhookEndpoint: {
    method: 'put',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
    scope: 'notify',
  },
  getWebhookEndpoint: {
    method: 'get',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
    scope: 'notify',
  },
  deleteWebhookEndpoint: {
    method: 'delete',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}',
    owner: 'notify',
    scope: 'notify',
  },
  rotateWebhookSecret: {
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/rotate-secret',
    owner: 'notify',
    scope: 'notify',
  },
  testWebhookEndpoint: {
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/test',
    owner: 'notify',
    scope: 'notify',
  },
  recoverWebhookEndpoint: {
    method: 'post',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/recover',
    owner: 'notify',
    scope: 'notify',
  },
  listWebhookDeliveries: {
    method: 'get',
    path: '/v1/vision/webhook-endpoints/{endpoint_id}/deliveries',
    owner: 'notify',
    scope: 'notify',
  },
  redeliverWebhook: {
    method: 'post',
    path: '/v1/vision/webhook-deliveries/{delivery_id}/redeliver',
    owner: 'notify',
    scope: 'notify',
  },
  listMqttEndpoints: { method: 'get', path: '/v1/vision/mqtt-endpoints', owner: 'notify', scope: 'notify' },
  putMqttEndpoint: { method: 'put', path: '/v1/vision/mqtt-endpoints/{endpoint_id}', owner: 'notify', scope: 'notify' },
  getMqttEndpoint: { method: 'get', path: '/v1/vision/mqtt-endpoints/{endpoint_id}', owner: 'notify', scope: 'notify' },
  deleteMqttEndpoint: {
    method: 'delete',
    path: '/v1/vision/mqtt-endpoints/{endpoint_id}',
    owner: 'notify',
    scope: 'notify',
  },
  getUsage: { method: 'get', path: '/v1/vision/usage', owner: 'quota', scope: 'read' },
  getUsageDays: { method: 'get', path: '/v1/vision/usage/days', owner: 'quota', scope: 'read' },
};

/** Each public operation that the gateway passes on, in the order in which the router tries their paths. */
export const publicOperations: readonly PublicOperation[] = Object.entries(operations).map(([operation, rest]) => ({
  operation,
  ...rest,
}));

/** The scope that each public operation requires, those that the gateway answers itself included. */
export const operationScopes: Record<string, RequiredScope> = {
  getKey: 'any',
  listScenes: 'read',
  createLink: 'read',
  getSettings: 'read',
  putSettings: 'create',
  ...Object.fromEntries(publicOperations.map(({ operation, scope }) => [operation, scope])),
};

/** The scope that an operation requires; undefined for operations that API keys do not reach. */
export const scopeOf = (operation: string): RequiredScope | undefined => operationScopes[operation];
