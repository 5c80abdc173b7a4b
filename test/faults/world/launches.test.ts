import { expect, test } from '@jest/globals';
import { readSettings } from '../../../deploy/local/settings.ts';
import { ofLastRelease } from '../settings.ts';
import { launchesOf } from './launches.ts';
import type { LaunchesOptions } from './launches.ts';

const settings = { ...readSettings({}), localDir: '/run-of-a-test' };
const options = {
  settings,
  infrastructure: {
    databaseUrl: 'postgres://localhost:1/postgres',
    redisUrl: 'redis://localhost:2',
    brokers: 'localhost:3',
    objectStore: { endpoint: 'http://localhost:4', region: 'r', bucket: 'b', accessKey: 'a', secretKey: 's' },
    secrets: {},
  },
  diskOf: () => undefined,
  env: { CONSOLE: 'true', LEASE_MS: '4000' },
  neighbours: { TASKS_URL: 'http://localhost:5' },
} as unknown as LaunchesOptions;
const older = { version: '0.3.0', tree: '/releases/0.3.0', env: ofLastRelease };

const launches = (index: 0 | 1, name: string, more: Partial<LaunchesOptions> = {}) =>
  launchesOf({ ...options, ...more })(index, new Map())(name, 100, {});

test('the second process of a service runs from the older release, with the settings of all and its own', () => {
  const launch = launches(1, 'gateway-2', { older });
  expect(launch.tree).toBe('/releases/0.3.0');
  expect(launch.env).toMatchObject({ CONSOLE: 'false', LEASE_MS: '4000', WORK_DIR: '/run-of-a-test/work/gateway-2' });
  expect(launch.replica).toMatchObject({ name: 'gateway-2', neighbours: options.neighbours });
});

test('the first process runs from this checkout, as without an older release', () => {
  expect(launches(0, 'gateway-1', { older })).toEqual(launches(0, 'gateway-1'));
});

test.each([0, 1] as const)('without an older release process %i runs from this checkout', (index) => {
  const launch = launches(index, `tasks-${index + 1}`);
  expect(launch.tree).toBeUndefined();
  expect(launch.env).toMatchObject(options.env);
});

test('one of two workers publishes segments: beside an older release that of this checkout', () => {
  const lingerOf = (index: 0 | 1, more = {}) =>
    launches(index, `inference-${index + 1}`, more).env['SEGMENT_LINGER_MS'] ?? 'as by default';
  expect([lingerOf(0), lingerOf(1)]).toEqual(['0', 'as by default']);
  expect([lingerOf(0, { older }), lingerOf(1, { older })]).toEqual(['as by default', 'as by default']);
});
