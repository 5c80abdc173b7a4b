import { clockMigration } from '@vision/shared/db/clock';
import type { Migration } from '@vision/shared/db/migrate';
import { outboxMigration } from '@vision/kafka/outbox';
import { positionEpochsMigration, positionsMigration } from '@vision/kafka/positions';
import { eventLog } from './0001-event-log.ts';
import { deletedTasks, eventsByTask } from './0002-deleted-tasks.ts';
import { alarmRules, alarms, expiredEvents } from './0003-alarms.ts';
import { webhooks } from './0004-webhooks.ts';
import { webhookKeys } from './0005-webhook-keys.ts';
import { mqtt } from './0006-mqtt.ts';
import { deletedEndpoints } from './0007-deleted-endpoints.ts';
import { removedEvents } from './0008-removed-events.ts';
import { ruleSnapshots } from './0009-rule-snapshots.ts';

export const migrations: Migration[] = [
  clockMigration,
  positionsMigration,
  positionEpochsMigration,
  eventLog,
  deletedTasks,
  eventsByTask,
  expiredEvents,
  outboxMigration,
  alarmRules,
  alarms,
  webhooks,
  webhookKeys,
  mqtt,
  deletedEndpoints,
  removedEvents,
  ruleSnapshots,
];
