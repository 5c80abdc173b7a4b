import { republishOutboxRoute } from '@vision/kafka/http/republish-route';
import type { Route } from '@vision/shared/http/route';
import { statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { deleteAlarmRuleRoute } from './delete-alarm-rule.ts';
import { getAlarmRuleRoute } from './get-alarm-rule.ts';
import { getAlarmRoute } from './get-alarm.ts';
import { getEventStreamRoute } from './get-event-stream.ts';
import { listAlarmRulesRoute } from './list-alarm-rules.ts';
import { listAlarmsRoute } from './list-alarms.ts';
import { listEventsRoute } from './list-events.ts';
import { putAlarmRuleRoute } from './put-alarm-rule.ts';
import { reviewAlarmRoute } from './review-alarm.ts';
import { runRetentionRoute } from './run-retention.ts';

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
    runRetentionRoute(deps),
    republishOutboxRoute('republishRuleEvents', deps),
    statusRoute('getNotifyStatus', deps.status),
  ];
}
