import { topics } from '@vision/contracts/topics';
import { until } from '@vision/shared/testing/until';
import { compareDeliveries } from '../events.ts';
import type { Delivered } from '../events.ts';
import type { Listeners } from '../listeners.ts';
import type { State } from '../state.ts';
import type { Invariant } from './invariant.ts';

/** Longest time until everything has arrived once nothing fails any more. */
const ARRIVE_MS = 90_000;

/** What has to hold of the logs of callers and of everything that reads them. */
export function eventInvariants(listeners: Listeners): Invariant[] {
  return [
    {
      id: 'log',
      says: 'Every end of a task and every alarm that was raised is in the log of its caller, and every alarm has ended with its task',
      check: async (state) => [...(await unlogged(state)), ...(await lostAlarms(state))],
    },
    {
      id: 'events',
      says: 'Every event of the log reached each webhook receiver and MQTT subscriber that wants it, none altered: its signature held, and it has the id and the content that the log has',
      check: async (state) => {
        const { world } = state;
        const all = await arrived(state, listeners);
        if (all.every(({ events }) => events === 0)) return ['no event was logged, so this shows nothing'];
        return [
          ...all.flatMap((one) => [...breachesOf(one, 'lost'), ...breachesOf(one, 'altered')]),
          ...(world.receiver.redirected() > 0 ? ['a redirect was followed'] : []),
          ...(world.receiver.name.reached() > 0 ? ['an inner address was called that a name led to'] : []),
        ];
      },
    },
    {
      id: 'only',
      says: 'Nothing reached a receiver or subscriber that is in no log, and nothing after its endpoint was deleted or the key that made it revoked',
      check: async (state) => {
        const all = await compareDeliveries(state, listeners);
        const staying = all.filter(({ listener: { endpointId, left } }) => !left && /deleted|revoked/.test(endpointId));
        return [
          ...all.flatMap((one) => [...breachesOf(one, 'unknown'), ...breachesOf(one, 'late')]),
          ...staying.map(({ listener }) => `${nameOf(listener)} never left`),
        ];
      },
    },
  ];
}

/** What waits for its next attempt is not lost: on a slow machine one more may time out. */
async function arrived(state: State, listeners: Listeners): Promise<Delivered[]> {
  let all: Delivered[] = [];
  const areAll = async () => {
    await listeners.lookAfter();
    await listeners.hurry();
    all = await compareDeliveries(state, listeners);
    return all.every(({ lost }) => lost.length === 0);
  };
  await until(areAll, { timeoutMs: ARRIVE_MS, intervalMs: 2_000 }).catch(() => undefined);
  return all;
}

const nameOf = ({ door, owner, endpointId }: Delivered['listener']) => `${door} ${endpointId} of ${owner.subject}`;

function breachesOf(one: Delivered, what: 'lost' | 'altered' | 'unknown' | 'late'): string[] {
  const ids = one[what];
  return ids.length === 0
    ? []
    : [`${nameOf(one.listener)}: ${ids.length} of ${one.events} ${what}: ${ids.slice(0, 3).join(', ')} …`];
}

async function unlogged({ stores, workload }: State): Promise<string[]> {
  const ended = await stores.query<{ task_id: string; status: string }>(
    'tasks',
    `select task_id, status from tasks
      where kind <> 'image' and status in ('succeeded', 'stopped', 'failed', 'refunded')`,
  );
  const logged = await stores.query<{ task_id: string; type: string }>(
    'notify',
    `select task_id, type from events where type like 'task.%'`,
  );
  const known = new Set(logged.map(({ task_id, type }) => `${task_id} ${type}`));
  const open = await stores.query<{ alarm_id: string }>('notify', `select alarm_id from alarms where state = 'open'`);
  return [
    ...ended
      .filter(({ task_id, status }) => !workload.deletions.has(task_id) && !known.has(`${task_id} task.${status}`))
      .map(({ task_id, status }) => `task ${task_id}: no event says that it is ${status}`),
    ...open.map(({ alarm_id }) => `alarm ${alarm_id} is open`),
  ];
}

/** Alarms that were raised and are not known where callers read them, of tasks that are still there. */
async function lostAlarms({ stores }: State): Promise<string[]> {
  const raised = await stores.query<{ alarm_id: string; task_id: string }>(
    'results',
    `select distinct payload ->> 'alarm_id' as alarm_id, payload ->> 'task_id' as task_id
       from outbox where topic = '${topics.alarms}' and published_at is not null`,
  );
  const known = await stores.query<{ alarm_id: string }>('notify', 'select alarm_id from alarms');
  const deleted = await stores.query<{ task_id: string }>(
    'notify',
    'select task_id from task_states where deleted_at is not null',
  );
  const ids = new Set([...known.map(({ alarm_id: id }) => id), ...deleted.map(({ task_id: id }) => id)]);
  return raised
    .filter(({ alarm_id: alarm, task_id: task }) => !ids.has(alarm) && !ids.has(task))
    .map(({ alarm_id: alarm, task_id: task }) => `alarm ${alarm} of task ${task} was raised and is not in the log`);
}
