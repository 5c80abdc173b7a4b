import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { readSettings } from '../config.ts';
import { runCommandLine } from '../run-command-line.ts';

async function visionctl(...argv: string[]) {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  // Needs no settings: keys are created without any request.
  const exitCode = await runCommandLine(argv, readSettings({ VISION_LOCAL_DIR: '/nowhere' }), {
    print: say,
    complain: say,
  });
  return { exitCode, text: said.join('\n') };
}
const parse = (text: string) => Object.fromEntries(text.split('\n').map((line) => line.split('=') as [string, string]));

test('the lines that are printed are settings with which every service can sign', async () => {
  const { exitCode, text } = await visionctl('service-keys', 'create');
  const lines = parse(text);
  expect([exitCode, Object.keys(lines)]).toEqual([
    0,
    ['GATEWAY_SERVICE_KEY', 'TASKS_SERVICE_KEY', 'IMAGES_SERVICE_KEY', 'RESULTS_SERVICE_KEY', 'SERVICE_PUBLIC_KEYS'],
  ]);
  for (const issuer of ['gateway', 'tasks', 'images', 'results'] as const) {
    const env = { ...lines, SERVICE_KEY: lines[`${issuer.toUpperCase()}_SERVICE_KEY`] };
    const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = loadConfig(z.object(serviceKeyConfig), env);
    expect(() => createTokenSigner({ issuer, key, publicKeys })).not.toThrow();
  }
});

test('the key of one service can be made alone, for a rotation', async () => {
  const { text } = await visionctl('service-keys', 'create', '--service', 'tasks');
  expect(text).toMatch(/^TASKS_SERVICE_KEY=[\w-]{43}\nSERVICE_PUBLIC_KEYS=tasks:[\w-]{43}$/);
  expect((await visionctl('service-keys', 'create', '--service', 'quota')).exitCode).toBe(2);
});
