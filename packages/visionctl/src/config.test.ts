import { expect, test } from '@jest/globals';
import { readSettings } from './config.ts';

const nowhere = { VISION_LOCAL_DIR: '/nowhere' };

test('the operator is who the environment says, else the user of the machine', () => {
  const someone = () => ({ username: 'night shift' });
  expect(readSettings({ ...nowhere, VISION_OPERATOR: 'ana' }, someone).operator).toBe('ana');
  expect(readSettings(nowhere, someone).operator).toBe('night_shift');
});

test('a container that runs as a number without a name has an operator too', () => {
  const nobody = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT');
  };
  expect(readSettings(nowhere, nobody).operator).toMatch(/^uid-\d+$/);
});
