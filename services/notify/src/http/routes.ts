import { republishOutboxRoute } from '@vision/kafka/http/republish-route';
import type { Route } from '@vision/shared/http/route';
import { statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { deleteAlarmRuleRoute } from './delete-alarm-rule.ts';
import { deleteMqttEndpointRoute } from './delete-mqtt-endpoint.ts';
import { deleteWebhookEndpointRoute } from './delete-webhook-endpoint.ts';
import { endWebhookKeysRoute } from './end-webhook-keys.ts';
import { getAlarmRuleRoute } from './get-alarm-rule.ts';
import { getAlarmRoute } from './get-alarm.ts';
import { getEventStreamRoute } from './get-event-stream.ts';
import { getMqttEndpointRoute } from './get-mqtt-endpoint.ts';
import { getWebhookEndpointRoute } from './get-webhook-endpoint.ts';
import { listAlarmRulesRoute } from './list-alarm-rules.ts';
import { listAlarmsRoute } from './list-alarms.ts';
import { listEventsRoute } from './list-events.ts';
import { listMqttEndpointsRoute } from './list-mqtt-endpoints.ts';
import { listWebhookDeliveriesRoute } from './list-webhook-deliveries.ts';
import { listWebhookEndpointsRoute } from './list-webhook-endpoints.ts';
import { listWebhookKeysRoute } from './list-webhook-keys.ts';
import { putAlarmRuleRoute } from './put-alarm-rule.ts';
import { putMqttEndpointRoute } from './put-mqtt-endpoint.ts';
import { putWebhookEndpointRoute } from './put-webhook-endpoint.ts';
import { recoverWebhookEndpointRoute } from './recover-webhook-endpoint.ts';
import { redeliverWebhookRoute } from './redeliver-webhook.ts';
import { reviewAlarmRoute } from './review-alarm.ts';
import { rotateWebhookSecretRoute } from './rotate-webhook-secret.ts';
import { runRetentionRoute } from './run-retention.ts';
import { testWebhookEndpointRoute } from './test-webhook-endpoint.ts';

export function routes(deps: Deps): Route[] {
  return [
    listEventsRoute(deps),
    getEventStreamRoute(deps),
    listAlarmRulesRoute(deps),
    getAlarmRuleRoute(deps),
    putAlarmRuleRoute(deps),
    deleteAlarmRuleRoute(deps),
    listAlarmsRoute(deps),
    getAlarmRoute(deps),
    reviewAlarmRoute(deps),
    listWebhookEndpointsRoute(deps),
    putWebhookEndpointRoute(deps),
    getWebhookEndpointRoute(deps),
    deleteWebhookEndpointRoute(deps),
    rotateWebhookSecretRoute(deps),
    testWebhookEndpointRoute(deps),
    recoverWebhookEndpointRoute(deps),
    listWebhookDeliveriesRoute(deps),
    redeliverWebhookRoute(deps),
    listWebhookKeysRoute(deps),
    endWebhookKeysRoute(deps),
    listMqttEndpointsRoute(deps),
    putMqttEndpointRoute(deps),
    getMqttEndpointRoute(deps),
    deleteMqttEndpointRoute(deps),
    runRetentionRoute(deps),
    republishOutboxRoute('republishRuleEvents', deps),
    statusRoute('getNotifyStatus', deps.status),
  ];
}
