import { randomBytes } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { refusal, system } from '../../support/system.ts';
import type { Caller } from '../../support/system.ts';
import type { Rotation, Stage } from '../rotation.ts';

const newKey = () => randomBytes(32).toString('base64');
const BY_USE_MS = 60_000;

/** Peppers of the API keys. One key is left unused, so that the old pepper keeps something to open. */
export function peppers({ world, stores, createCaller }: Stage): Rotation {
  const old = world.secrets.API_KEY_PEPPERS;
  const next = `2:${newKey()}`;
  const services = ['gateway'] as const;
  let unused: Caller | undefined;
  const onlyTheUnusedIsLeft = async () => {
    const sql = 'select key_id from api_keys where pepper_version = 1 and revoked_at is null';
    const left = await stores.query<{ key_id: string }>('gateway', sql);
    return left.length === 1 && unused?.key.includes(left[0]?.key_id ?? '-') === true;
  };
  return {
    name: 'peppers',
    says: 'Peppers of API keys (`API_KEY_PEPPERS`)',
    steps: [
      {
        says: 'append the new one',
        services,
        secrets: () => ({ API_KEY_PEPPERS: `${old},${next}` }),
        before: async () => {
          unused = await createCaller();
        },
      },
      { says: 'move it to the front', services, secrets: () => ({ API_KEY_PEPPERS: `${next},${old}` }) },
      {
        says: 'take the old one out when no key that is used needs it',
        services,
        secrets: () => ({ API_KEY_PEPPERS: next }),
        before: async () => {
          await until(onlyTheUnusedIsLeft, { timeoutMs: BY_USE_MS, intervalMs: 500 });
        },
      },
    ],
    stillOpen: async () => {
      const answer = await unused?.get('/v1/vision/usage');
      return answer?.status === 401 ? [] : [`a key under the old pepper is answered ${answer?.status ?? 'nothing'}`];
    },
  };
}

export function adminToken({ world, load }: Stage): Rotation {
  const old = world.adminToken;
  const next = randomBytes(32).toString('base64url');
  const services = ['gateway'] as const;
  return {
    name: 'admin-token',
    says: 'Token of the admin API (`ADMIN_TOKEN`)',
    steps: [
      {
        says: 'append the new one',
        services,
        secrets: () => ({ ADMIN_TOKEN: `${old},${next}` }),
        after: () => load.useAdminTokens([old, next]),
      },
      { says: 'move it to the front', services, secrets: () => ({ ADMIN_TOKEN: `${next},${old}` }) },
      {
        says: 'take the old one out',
        services,
        secrets: () => ({ ADMIN_TOKEN: next }),
        before: async () => {
          load.useAdminTokens([next]);
          system.adminToken = next;
          await load.rounds();
        },
      },
    ],
    stillOpen: async () => {
      const headers = { authorization: `Bearer ${old}` };
      const { status } = await fetch(`${system.adminUrl}/admin/v1/maintenance`, { headers });
      return status === 401 ? [] : [`the old token is answered ${status}`];
    },
  };
}

/** Addresses of running streams and replays need the old key for 90 days, so it is not taken out here. */
export function streamKey({ world, stores }: Stage): Rotation {
  const old = `1:${world.secrets.STREAM_URL_KEY}`;
  const next = `2:${newKey()}`;
  const services = ['tasks', 'inference'] as const;
  const from = new Date();
  return {
    name: 'stream-key',
    says: 'Key of stream addresses (`STREAM_URL_KEY`)',
    steps: [
      { says: 'append the new one', services, secrets: () => ({ STREAM_URL_KEY: `${old},${next}` }) },
      {
        says: 'move it to the front',
        services,
        secrets: () => ({ STREAM_URL_KEY: `${next},${old}` }),
        after: () => void from.setTime(Date.now()),
      },
    ],
    stillOpen: async () => {
      const sql =
        'select get_byte(stream_url, 0) as version from jobs where stream_url is not null and created_at > $1';
      const sealed = () => stores.query<{ version: number }>('inference', sql, [from]);
      await until(async () => (await sealed()).length > 0, { timeoutMs: BY_USE_MS, intervalMs: 500 });
      const byOld = (await sealed()).filter(({ version }) => version !== 2);
      return byOld.length === 0 ? [] : [`${byOld.length} addresses were sealed with the old key`];
    },
  };
}

/** Cursors of task lists (`tasks`) or of frames (`results`). */
export function cursorKeys({ world, load }: Stage, service: 'tasks' | 'results'): Rotation {
  const [old, next] =
    service === 'tasks'
      ? [`1:${world.secrets.TASKS_CURSOR_KEYS}`, `2:${newKey()}`]
      : [world.secrets.RESULTS_CURSOR_KEYS, newKey()];
  const services = [service] as const;
  return {
    name: `${service}-cursors`,
    says: `Keys of the cursors of ${service === 'tasks' ? 'task lists' : 'frames'} (\`CURSOR_KEYS\` of ${service})`,
    steps: [
      { says: 'append the new one', services, secrets: () => ({ CURSOR_KEYS: `${old},${next}` }) },
      { says: 'move it to the front', services, secrets: () => ({ CURSOR_KEYS: `${next},${old}` }) },
      {
        says: 'take the old one out when no caller holds its cursors',
        services,
        secrets: () => ({ CURSOR_KEYS: next }),
        before: () => load.renewCursors(service),
      },
    ],
    stillOpen: async () => {
      const forgotten = load.forgotten(service);
      if (!forgotten) return ['no cursor of the old key was kept to show that it is refused'];
      const [status, , reason] = refusal(await forgotten());
      return status === 400 && reason === 'cursor_invalid' ? [] : [`a cursor of the old key is answered ${status}`];
    },
  };
}
