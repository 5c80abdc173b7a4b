import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { Redis } from 'ioredis';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import { offsets, readSettings } from '../../deploy/local/settings.ts';
import { need, system } from '../support/system.ts';

const folder = join(readSettings().localDir, 'test/log');
const logs = () => readdirSync(folder).filter((file) => file.endsWith('.log'));
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** Where each log ends now. */
export const logMarks = (): Map<string, number> => new Map(logs().map((file) => [file, read(file).length]));

/** What the attack of a service that was taken over has to leave behind. */
const WANTED = '"service call forbidden"';

/** Lines since then that call for an operator: no stranger may cause one. */
export function errorLines(marks: Map<string, number>): string[] {
  return logs().flatMap((file) =>
    read(file)
      .slice(marks.get(file) ?? 0)
      .split('\n')
      .filter((line) => /^\{"level":"(error|fatal)"/.test(line) && !line.includes(WANTED))
      .map((line) => `${file}: ${line.slice(0, 300)}`),
  );
}

/** Services that are not ready. */
export async function notReady(): Promise<string[]> {
  const base = Number(new URL(system.baseUrl).port) - offsets.gateway;
  const answers = await Promise.all(
    serviceNames.map(async (name) => {
      const url = `http://127.0.0.1:${base + offsets[`${name}Health`]}/health/ready`;
      const isReady = await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
      return isReady ? [] : [name];
    }),
  );
  return answers.flat();
}

/** Requests that are counted as in flight when those that ended have had the time to say so. */
export async function waitingSlots(): Promise<number> {
  const redis = new Redis(need('TEST_REDIS_URL'));
  const count = async () => {
    const keys = await redis.keys('*slots:*');
    const each = await Promise.all(keys.map((key) => redis.zcount(key, Date.now(), '+inf')));
    return each.reduce((sum, one) => sum + one, 0);
  };
  try {
    await until(async () => (await count()) === 0, { timeoutMs: 20_000, intervalMs: 250 }).catch(() => undefined);
    return await count();
  } finally {
    redis.disconnect();
  }
}
