import { randomBytes } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { Caller, admin } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import type { Stores } from './stores.ts';
import type { World } from './world/world.ts';

/** A receiver of webhooks, or a subscriber of the broker, by the endpoint through which events reach it. */
export interface Listener {
  door: 'webhook' | 'mqtt';
  endpointId: string;
  owner: Caller;
  /** Path of its webhooks, or beginning of its topics. */
  address: string;
  /** What is sent to create it, and to enable it again. */
  settings: object;
  /** All types of events when absent. */
  types?: readonly string[];
  /** From then on nothing may reach it. */
  left?: Left;
}

export interface Left {
  /** Its endpoint was deleted, or the API key that made it was revoked. */
  by: 'deletion' | 'revocation';
  at: number;
  /** Events with higher numbers were logged afterwards. */
  position: number;
}

export interface Listeners {
  all: readonly Listener[];
  callers: readonly Caller[];
  /** Deletes some endpoints, and revokes the key of others. */
  leave: () => Promise<void>;
  /** As owners do: webhook endpoints that were disabled are enabled, and what they missed is asked for. */
  lookAfter: () => Promise<void>;
  /** Makes what waits for its next attempt due. */
  hurry: () => Promise<void>;
}

type Chosen = Pick<Listener, 'door' | 'endpointId' | 'owner' | 'types'>;

/** Numbers of events are times of a clock that may be stepped. */
const CLOCK_STEPS_MS = 2 * 3_600_000;
const PATIENTLY = { timeoutMs: 180_000, intervalMs: 1_000 };
const RULE = { name: 'Anyone', when: { kind: 'object_present', labels: ['person'] }, min_interval_ms: 0 };
/** It raises next to nothing: each change of a rule closes its alarms. */
const SELDOM = { ...RULE, when: { kind: 'object_present', labels: ['bus'] } };
const ALARMS = ['alarm.opened', 'alarm.closed'];

/** Every caller gets an alarm rule, and endpoints for webhooks and MQTT. Some of them go while the system runs. */
export async function createListeners(world: World, callers: readonly Caller[], stores: Stores): Promise<Listeners> {
  const startedAt = Date.now();
  const all: Listener[] = [];
  const owed = new Set<Listener>();
  let changes = 0;
  const doors = world.mqtt ? (['webhook', 'mqtt'] as const) : (['webhook'] as const);
  const add = async (chosen: Chosen, by = chosen.owner) => {
    const listener = listenerOf(world, chosen, callers.indexOf(chosen.owner));
    needed(await by.send('PUT', pathOf(listener), json(listener.settings)));
    all.push(listener);
    return listener;
  };
  for (const owner of callers) {
    needed(await owner.send('PUT', '/v1/vision/alarm-rules/anyone', json(RULE)));
    for (const door of doors) await add({ door, owner, endpointId: 'all' });
  }
  const [owner] = callers;
  if (!owner) throw new Error('there is no caller');
  const made = needed(await admin('POST', '/admin/v1/keys', { name: 'leaves', subject: owner.subject })).body;
  const leaver = new Caller(String(made['key']), owner.subject);
  await add({ door: 'webhook', owner, endpointId: 'alarms', types: ALARMS });
  const deleted = await Promise.all(doors.map((door) => add({ door, owner, endpointId: 'deleted' })));
  const revoked = await Promise.all(doors.map((door) => add({ door, owner, endpointId: 'revoked' }, leaver)));

  const leftBy = async (by: Left['by']): Promise<Left> => {
    const at = Date.now();
    const sql = 'select coalesce(max(position), 0)::float8 as position from subject_logs where subject = $1';
    const [row] = await until(() => stores.query<{ position: number }>('notify', sql, [owner.subject]), PATIENTLY);
    return { by, at, position: row?.position ?? 0 };
  };
  return {
    all,
    callers,
    leave: async () => {
      for (const listener of deleted) {
        await until(async () => isGone(await owner.send('DELETE', pathOf(listener))), PATIENTLY);
        listener.left = await leftBy('deletion');
      }
      // A receiver that answered 410 has ended its endpoint already, for another reason.
      for (const listener of revoked) {
        const enable = () => leaver.send('PUT', pathOf(listener), json(listener.settings));
        await until(async () => (await enable()).status === 200, PATIENTLY);
      }
      const key = `/admin/v1/keys/${String(made['key_id'])}`;
      await until(async () => isGone(await admin('DELETE', key)), PATIENTLY);
      for (const listener of revoked) {
        const reason = async () => (await owner.get(pathOf(listener))).body['disabled_reason'];
        await until(async () => ENDED.has(await reason()), PATIENTLY);
        listener.left = await leftBy('revocation');
      }
    },
    lookAfter: async () => {
      // A rule that is changed again and again, so that changes meet faults too; a name alone changes nothing judged.
      changes += 1;
      const when = { ...SELDOM.when, clear_ms: 5_000 + (changes % 10) };
      needed(await owner.send('PUT', '/v1/vision/alarm-rules/changing', json({ ...SELDOM, when })));
      const kept = all.filter(({ door, endpointId }) => door === 'webhook' && !GOING.has(endpointId));
      for (const listener of kept) {
        const { body } = needed(await listener.owner.get(pathOf(listener)));
        if (body['enabled'] === false) {
          owed.add(listener);
          needed(await listener.owner.send('PUT', pathOf(listener), json(listener.settings)));
        }
        if (!owed.has(listener)) continue;
        await recover(listener, startedAt - CLOCK_STEPS_MS);
        owed.delete(listener);
      }
    },
    hurry: async () => {
      const waits = `state = 'pending' and lease_until > now()`;
      await stores.query('notify', `update webhook_deliveries set lease_until = now() where ${waits}`);
      await stores.query('notify', 'update mqtt_endpoints set next_at = now() where is_enabled and next_at > now()');
    },
  };
}

const GOING = new Set(['deleted', 'revoked']);
/** The receiver may answer 410 once more before the revocation is known. */
const ENDED = new Set<unknown>(['key_revoked', 'gone']);

/** A part of every path may be seen nowhere, as of an address of a stream. */
function listenerOf({ receiver, mqtt, canary, exported }: World, chosen: Chosen, caller: number): Listener {
  const name = `caller-${caller}-${chosen.endpointId}`;
  const types = chosen.types ? { event_types: chosen.types } : {};
  if (chosen.door === 'mqtt')
    return { ...chosen, address: name, settings: { url: mqtt?.url, topic_prefix: name, ...types } };
  const address = `/${canary}/${name}`;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  receiver.expect(address, secret);
  exported.forbid(secret, 'the secret of a webhook endpoint');
  return { ...chosen, address, settings: { url: receiver.url + address, secret, ...types } };
}

async function recover(listener: Listener, sinceMs: number): Promise<void> {
  let since: unknown = sinceMs;
  while (since !== undefined) {
    const asked = json({ since_ms: since });
    since = needed(await listener.owner.send('POST', `${pathOf(listener)}/recover`, asked)).body['continue_from_ms'];
  }
}

const pathOf = ({ door, endpointId }: Listener) => `/v1/vision/${door}-endpoints/${endpointId}`;

const json = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

const isGone = ({ status }: Answer) => status === 204 || status === 404;

function needed(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
  return answer;
}
