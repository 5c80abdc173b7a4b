import { expect, test } from '@jest/globals';
import { maskKeys } from './mask-keys.ts';

const secret = 'S'.repeat(43);
const key = `vk_abababababababab_${secret}`;

test('keys are masked everywhere in a text', () => {
  expect(maskKeys(`/v1/${key}?key=${key}`)).toBe('/v1/vk_abababababababab_***?key=vk_abababababababab_***');
});

test.each([
  ['underscores', key.replaceAll('_', '%5F')],
  ['lower-case escapes', key.replaceAll('_', '%5f')],
  ['escaped escapes', key.replaceAll('_', '%25255F')],
  ['digits of escapes', key.replaceAll('_', '%%35F')],
  ['a letter of the secret', key.replace('SS', 'S%53')],
  ['the first letter, beside a broken escape', `%zz/${key.replace('v', '%76')}`],
])('a key with %s encoded is masked too', (_what, hidden) => {
  const masked = maskKeys(`/v1/${hidden}/x`);
  expect(masked).toContain('vk_abababababababab_***');
  expect(masked).not.toContain('SSS');
});

test('a text without a key stays as it was written', () => {
  expect(maskKeys('/v1/%20vk%2Fx')).toBe('/v1/%20vk%2Fx');
});
