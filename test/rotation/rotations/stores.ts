import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createObjectStore } from '@vision/objects/object-store';
import { until } from '@vision/shared/testing/until';
import pg from 'pg';
import { runningPid } from '../../../deploy/local/background.ts';
import { stopOne } from '../../../deploy/local/down.ts';
import { ensureS3 } from '../../../deploy/local/s3.ts';
import { services } from '../../faults/world/replicas.ts';
import type { Replica, Service } from '../../faults/world/replicas.ts';
import type { World } from '../../faults/world/world.ts';
import { atTheStore } from '../rotation.ts';
import type { Rotation, Stage } from '../rotation.ts';
import { askRedis, given } from '../settings.ts';

const newPassword = () => randomBytes(18).toString('hex');

/** A role of PostgreSQL has one password, so a second role that acts as the first takes its place. */
export function databases({ world, stores }: Stage): Rotation {
  const passwords = new Map(services.map((service) => [service, newPassword()]));
  const each = async (statements: (service: Service) => string[]) => {
    for (const service of services) for (const sql of statements(service)) await stores.query(service, sql);
  };
  const login = ({ service, links }: Replica) =>
    `postgres://vision_${service}_2:${passwords.get(service) ?? ''}@127.0.0.1:${String(links.get('postgres')?.port)}/vision_${service}`;
  return {
    name: 'databases',
    says: 'Passwords of the databases (`DATABASE_URL`)',
    steps: [
      {
        says: 'make a second role that acts as the first, and log in as that one',
        services,
        secrets: (replica) => ({ DATABASE_URL: login(replica) }),
        before: () =>
          each((service) => [
            `create role vision_${service}_2 login password '${passwords.get(service) ?? ''}' in role vision_${service}`,
            `alter role vision_${service}_2 set role vision_${service}`,
          ]),
      },
      atTheStore('let the first role log in no more', () =>
        each((service) => [`alter role vision_${service} nologin password null`]),
      ),
    ],
    stillOpen: async () => {
      const found = await Promise.all(services.map((service) => tryLogin(world, service)));
      return found.flat();
    },
  };
}

async function tryLogin(world: World, service: Service): Promise<string[]> {
  const url = new URL(world.database.url());
  url.username = `vision_${service}`;
  url.password = world.secrets[`${service.toUpperCase() as Uppercase<Service>}_DATABASE_PASSWORD`];
  url.pathname = `/vision_${service}`;
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return [`vision_${service} may log in with its old password`];
  } catch (error) {
    const { code = '' } = error as { code?: string };
    return code.startsWith('28') ? [] : [`vision_${service}: ${String(error)}`];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A user of Redis may have several passwords at once. */
export function redis({ world }: Stage): Rotation {
  const { redisUser: user, redisPassword: old } = given;
  const next = newPassword();
  const setUser = async (rule: string) => {
    await askRedis(world.redisUrl, ['ACL', 'SETUSER', user, rule]);
  };
  const loginWith = (password: string) => {
    const url = new URL(world.redisUrl);
    url.username = user;
    url.password = password;
    return askRedis(url.href, ['PING']);
  };
  return {
    name: 'redis',
    says: 'Password of Redis (`REDIS_PASSWORD`)',
    steps: [
      {
        says: 'give the user a second password, and log in with that one',
        services: ['gateway'],
        secrets: () => ({ REDIS_PASSWORD: next }),
        before: () => setUser(`>${next}`),
      },
      atTheStore('take its first password away', () => setUser(`<${old}`)),
    ],
    stillOpen: async () => {
      const outcome = await loginWith(old).catch((error: unknown) => String(error));
      const isRefused = typeof outcome === 'string' && /WRONGPASS|NOAUTH/.test(outcome);
      const refused = isRefused ? [] : [`the old password is answered ${String(outcome)}`];
      return [...refused, ...refusedLogins(world), ...(await ping(loginWith, next))];
    },
  };
}

async function ping(login: (password: string) => Promise<unknown>, password: string): Promise<string[]> {
  const answer = await login(password).catch((error: unknown) => String(error));
  return answer === 'PONG' ? [] : [`the new password is answered ${String(answer)}`];
}

/** Without Redis a gateway counts by itself, so a password that Redis does not take fails no request. */
function refusedLogins({ settings }: World): string[] {
  const folder = join(settings.localDir, 'log');
  const files = readdirSync(folder).filter((file) => file.startsWith('gateway-'));
  const isRefused = (file: string) => /WRONGPASS|NOAUTH/.test(readFileSync(join(folder, file), 'utf8'));
  return files.filter(isRefused).map((file) => `${file}: Redis refused the password`);
}

/** The server takes two pairs of keys from its start on, as an account of a provider may have two. */
export function s3({ world, load }: Stage): Rotation {
  const next = given.nextS3Keys;
  return {
    name: 's3',
    says: 'Keys of S3 (`S3_ACCESS_KEY`, `S3_SECRET_KEY`)',
    steps: [
      {
        says: 'set the second pair',
        services: ['tasks', 'images', 'results', 'inference'],
        secrets: () => ({ S3_ACCESS_KEY: next.accessKey, S3_SECRET_KEY: next.secretKey }),
      },
    ],
    stillOpen: async () => [],
    // This server learns of other keys by a restart only.
    whenQuiet: async () => {
      await stopOne(world.settings, 's3');
      await until(() => runningPid(world.settings, 's3') === undefined);
      await ensureS3({ ...world.settings, s3Keys: [next] }, world.secrets);
      const [byOld, byNext] = [await lists(world.s3), await lists({ ...world.s3, ...next })];
      if (byOld || !byNext) return [`the old keys ${byOld ? 'may' : 'may not'}, the new ${byNext ? 'may' : 'may not'}`];
      // Frames that are older than the hot form are objects. A process that has just begun has none in memory.
      for (const replica of world.replicas.filter(({ service }) => service === 'results')) {
        await replica.stop();
        await replica.start();
      }
      const pages = await Promise.all(load.followers.map((follower) => follower.readStored()));
      return pages.flat();
    },
  };
}

async function lists(options: World['s3']): Promise<boolean> {
  const store = createObjectStore(options);
  try {
    await store.list('')[Symbol.asyncIterator]().next();
    return true;
  } catch {
    return false;
  } finally {
    store.close();
  }
}
