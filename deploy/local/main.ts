import { mkdirSync } from 'node:fs';
import { clean } from './clean.ts';
import { stopAll, stopOne, stopServices } from './down.ts';
import { withLock } from './lock.ts';
import { followLogs, printStatus } from './look.ts';
import { serviceNames } from './service-environment.ts';
import type { ServiceName } from './service-environment.ts';
import { readSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { startTestInfrastructure, startTestSystem, testSettings } from './test-copy.ts';
import { startInfrastructure, startSystem } from './up.ts';

const env = process.env;

const commands: Record<string, (settings: Settings) => Promise<unknown>> = {
  infra: (settings) => withLock(settings, () => startInfrastructure(settings, env)),
  up: (settings) => withLock(settings, () => startSystem(settings, env)),
  down: (settings) => withLock(settings, () => stopAll(settings)),
  restart: (settings) =>
    withLock(settings, async () => {
      await stopOne(settings, namedService());
      await startSystem(settings, env);
    }),
  status: printStatus,
  logs: (settings) => followLogs(settings, env['SERVICE']),
  clean,
  'test-infra': async (settings) => {
    const copy = await testSettings(settings, env);
    return withLock(copy, () => startTestInfrastructure(copy));
  },
  'test-up': async (settings) => {
    const copy = await testSettings(settings, env);
    return withLock(copy, () => startTestSystem(copy, env));
  },
  'test-down': async (settings) => {
    const copy = await testSettings(settings, env);
    return withLock(copy, () => (process.argv[3] === 'services' ? stopServices(copy) : stopAll(copy)));
  },
};

function namedService(): ServiceName {
  const name = serviceNames.find((known) => known === env['SERVICE']);
  if (name === undefined) throw new Error(`Which one? make restart SERVICE=${serviceNames.join('|')}`);
  return name;
}

try {
  const command = commands[process.argv[2] ?? ''];
  if (command === undefined) throw new Error(`One of: ${Object.keys(commands).join(', ')}`);
  const settings = readSettings();
  mkdirSync(settings.localDir, { recursive: true });
  await command(settings);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
