import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createSecretBox } from '@vision/shared/secret-box';
import { openLink, sealLink } from './link.ts';

const key = (version: number) => ({ version, key: randomBytes(32) });
const [old, next] = [key(1), key(2)];
const box = createSecretBox([old]);
const link = { subject: 'acme', keyId: 'k1', path: '/v1/vision/tasks/x/video', endsAt: 2000 };
const token = sealLink(box, link);

test('a link opens until its end', () => {
  expect(openLink(box, token, 1999)).toEqual(link);
  expect(openLink(box, token, 2000)).toBeUndefined();
});

test('a link says nothing to its holder, and two of one path differ', () => {
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('acme');
  expect(sealLink(box, link)).not.toBe(token);
});

test('no changed, cut, extended or otherwise spelled token opens', () => {
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'A' ? 'B' : 'A';
    expect(openLink(box, token.slice(0, at) + other + token.slice(at + 1), 0)).toBeUndefined();
  }
  for (const odd of ['', '.', '..', token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`, token.repeat(2)]) {
    expect(openLink(box, odd, 0)).toBeUndefined();
  }
});

test('what was sealed for another purpose is no link', () => {
  const sealed = box.seal(JSON.stringify(['acme', 'k1', link.path, 2000]), 'cursor').toString('base64url');
  expect(openLink(box, sealed, 0)).toBeUndefined();
});

test('a rotated key opens its links until it is removed', () => {
  expect(openLink(createSecretBox([next, old]), token, 0)).toEqual(link);
  expect(openLink(createSecretBox([next]), token, 0)).toBeUndefined();
});
