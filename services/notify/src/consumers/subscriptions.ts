import { alarmChanged } from '@vision/contracts/alarm-events';
import { taskChanged, taskDeleted } from '@vision/contracts/task-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { forgetTask } from '../use-cases/log/forget-task.ts';
import { logAlarm } from '../use-cases/alarms/log-alarm.ts';
import { logTask } from '../use-cases/log/log-task.ts';

/** Handlers of events from other services. */
export function subscriptions(
  deps: Pick<Deps, 'db' | 'settings' | 'signals' | 'wakeRelay' | 'wakeWebhooks'>,
): Subscription[] {
  return [
    on(taskChanged, ({ data }, { transaction }) => logTask(deps, data, transaction)),
    on(taskDeleted, ({ data }, { transaction }) => forgetTask(deps, data, transaction)),
    on(alarmChanged, ({ data }, { transaction }) => logAlarm(deps, data, transaction)),
  ];
}
