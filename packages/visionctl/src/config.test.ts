import { expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from './config.ts';

const nowhere = { VISION_LOCAL_DIR: '/nowhere' };

test('the operator is who the environment says, else the user of the machine', () => {
  const someone = () => ({ username: 'night shift' });
  expect(readSettings({ ...nowhere, VISION_OPERATOR: 'ana' }, { user: someone }).operator).toBe('ana');
  expect(readSettings(nowhere, { user: someone }).operator).toBe('night_shift');
});

test('a container that runs as a number without a name has an operator too', () => {
  const nobody = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT');
  };
  expect(readSettings(nowhere, { user: nobody }).operator).toMatch(/^uid-\d+$/);
});

test('the admin token may be in a file; one that cannot be read is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'visionctl-'));
  writeFileSync(join(folder, 'token'), 'secret-of-the-operator\n');
  const settings = readSettings({ ...nowhere, ADMIN_TOKEN_FILE: join(folder, 'token') });
  expect(settings.adminToken()).toBe('secret-of-the-operator');
  const wrong = readSettings({ ...nowhere, ADMIN_TOKEN_FILE: join(folder, 'none') });
  expect(() => wrong.adminToken()).toThrow(/ADMIN_TOKEN_FILE names .*none, which cannot be read \(ENOENT\)/);
});

test('a misspelt variable is reported, without its value; one of other programs is not', async () => {
  const told: string[] = [];
  const env = { ...nowhere, ADMIN_TOKN: 'secret', KAFKA_BROKER: 'a:1', S3_REGIONS: 'x', KAFKA_HOME: '/opt', HOME: '/' };
  const settings = readSettings(env, { warn: (line) => told.push(line) });
  expect(told).toEqual(['visionctl: ADMIN_TOKN is no setting and has no effect; ADMIN_TOKEN is one.']);
  await expect(settings.kafka()).rejects.toThrow('KAFKA_BROKERS: ');
  expect(told.slice(1)).toEqual(['visionctl: KAFKA_BROKER is no setting and has no effect; KAFKA_BROKERS is one.']);
  await expect(settings.objectStore()).rejects.toThrow('S3_ENDPOINT: is missing');
  expect(told.slice(2)).toEqual(['visionctl: S3_REGIONS is no setting and has no effect; S3_REGION is one.']);
});
