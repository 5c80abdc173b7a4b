import { afterAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@vision/shared/testing/ports';
import { runningPid, stopProgram } from './background.ts';
import type { Settings } from './settings.ts';

const localDir = mkdtempSync(join(tmpdir(), 'vision-background-'));
const settings: Settings = { localDir, portBase: 20_000, cacheDir: localDir, observe: false };
const name = 'never-ready';

afterAll(async () => {
  await stopProgram(settings, name, 'SIGKILL', 1000);
  rmSync(localDir, { recursive: true });
});

test('a command ends with the reason when what it starts does not become ready, and leaves it running', async () => {
  const program = { name, command: 'sleep', args: ['600'], port: await freePort(), readyTimeoutMs: 200 };
  const script = `
    import { ensureRunning } from ${JSON.stringify(join(import.meta.dirname, 'background.ts'))};
    const program = ${JSON.stringify(program)};
    await ensureRunning(${JSON.stringify(settings)}, { ...program, ready: async () => false })
      .catch((error) => console.log(error.message));
  `;
  const args = ['--input-type=module', '--eval', script];
  const { signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 });
  expect(signal).toBeNull();
  expect(stdout).toContain('never-ready did not become ready.');
  expect(runningPid(settings, name)).toBeDefined();
});
