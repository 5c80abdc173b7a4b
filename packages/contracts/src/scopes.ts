/** What an API key can be limited to. A key without scopes of its own has all of them, those to come included. */
export const keyScopes = ['read', 'create', 'notify'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** What an operation requires; `any` of one that every key may call, whatever its scopes. */
export type RequiredScope = KeyScope | 'any';

/**
 * The scope that each public operation requires. `read` changes nothing; `create` spends units, and stops or deletes
 * what they paid for; `notify` decides what raises alarms
 * and where events are sent.
 */
export const operationScopes: Record<string, RequiredScope> = {
  getKey: 'any',
  listScenes: 'read',
  createStreamTask: 'create',
  createUploadTask: 'create',
  createStreamProbe: 'create',
  createImageDetection: 'create',
  stopTask: 'create',
  deleteTask: 'create',
  listTasks: 'read',
  createLink: 'read',
  getTask: 'read',
  getLiveSnapshot: 'read',
  getSettings: 'read',
  putSettings: 'create',
  getTaskVideo: 'read',
  getResults: 'read',
  getResultStream: 'read',
  listTracks: 'read',
  getTimeline: 'read',
  getTrack: 'read',
  getTrackSnapshot: 'read',
  getSource: 'read',
  createAlarmBacktest: 'read',
  listAlarmRules: 'read',
  getAlarmRule: 'read',
  putAlarmRule: 'notify',
  deleteAlarmRule: 'notify',
  listAlarms: 'read',
  getAlarm: 'read',
  reviewAlarm: 'notify',
  getImageDetection: 'read',
  listEvents: 'read',
  getEventStream: 'read',
  listWebhookEndpoints: 'notify',
  putWebhookEndpoint: 'notify',
  getWebhookEndpoint: 'notify',
  deleteWebhookEndpoint: 'notify',
  rotateWebhookSecret: 'notify',
  testWebhookEndpoint: 'notify',
  recoverWebhookEndpoint: 'notify',
  listWebhookDeliveries: 'notify',
  redeliverWebhook: 'notify',
  listMqttEndpoints: 'notify',
  putMqttEndpoint: 'notify',
  getMqttEndpoint: 'notify',
  deleteMqttEndpoint: 'notify',
  getUsage: 'read',
  getUsageDays: 'read',
};

/** The scope that an operation requires; undefined for operations that API keys do not reach. */
export const scopeOf = (operation: string): RequiredScope | undefined => operationScopes[operation];

/** The required scope that a key with these scopes lacks; undefined when it can call. Without scopes it has all. */
export function lackingScope(scopes: readonly string[] | undefined, required: RequiredScope): KeyScope | undefined {
  if (required === 'any' || scopes === undefined || scopes.includes(required)) return undefined;
  return required;
}
