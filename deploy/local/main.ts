import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from './down.ts';
import { addressesOf, ensureInfrastructure } from './infrastructure.ts';
import { writeEnvFile } from './secrets.ts';
import { readSettings, say, type Settings } from './settings.ts';
import { testSettings, testVariables } from './test-copy.ts';

const databases = ['gateway', 'tasks', 'images', 'results', 'quota', 'inference'].map((name) => `vision_${name}`);

const commands: Record<string, (settings: Settings) => Promise<void>> = {
  infra: async (settings) => {
    const infra = await ensureInfrastructure(settings, process.env, databases);
    writeEnvFile(join(settings.localDir, 'env'), addressesOf(infra));
  },
  'test-infra': async (settings) => {
    const copy = await testSettings(settings, process.env);
    const infra = await ensureInfrastructure(copy, {}, databases);
    const file = join(copy.localDir, 'env');
    writeEnvFile(file, testVariables(infra), 'export ');
    say('tests', `read their addresses from ${file}`);
  },
  'test-down': async (settings) => stopAll(await testSettings(settings, process.env)),
  down: stopAll,
};

const command = commands[process.argv[2] ?? ''];
if (command === undefined) throw new Error(`One of: ${Object.keys(commands).join(', ')}`);
const settings = readSettings();
mkdirSync(settings.localDir, { recursive: true });
try {
  await command(settings);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
