import { expect, test } from '@jest/globals';
import { createSecretBox, secretKeys } from './secret-box.ts';

const one = Buffer.alloc(32, 1).toString('base64');
const two = Buffer.alloc(32, 2).toString('base64');
const boxOf = (text: string) => createSecretBox(secretKeys.parse(text));
const url = 'rtsp://user:canary@camera.example.org/live';

test('what was sealed opens again in the same context only', () => {
  const box = boxOf(one).seal(url, 'task-1');
  expect(box.includes('canary')).toBe(false);
  expect(boxOf(one).open(box, 'task-1')).toBe(url);
  expect(() => boxOf(one).open(box, 'task-2')).toThrow();
});

test('a changed box does not open', () => {
  for (const index of [1, 15, 30]) {
    const box = boxOf(one).seal(url, 'task-1');
    box[index] = (box[index] ?? 0) ^ 1;
    expect(() => boxOf(one).open(box, 'task-1')).toThrow();
  }
  expect(() => boxOf(one).open(Buffer.from([1, 2, 3]), 'task-1')).toThrow('too short');
});

test('the same text never gives the same box twice', () => {
  expect(boxOf(one).seal(url, 'a').equals(boxOf(one).seal(url, 'a'))).toBe(false);
});

test('after a rotation the new key seals and the old one still opens', () => {
  const old = boxOf(one);
  const rotated = boxOf(`2:${two},1:${one}`);
  const box = old.seal(url, 'a');
  expect(rotated.open(box, 'a')).toBe(url);
  expect(rotated.seal(url, 'a')[0]).toBe(2);
  expect(() => old.open(rotated.seal(url, 'a'), 'a')).toThrow('key version 2');
});

test('digests compare texts across a rotation and show nothing of them', () => {
  const digest = boxOf(one).digest(url, 'fingerprint');
  const rotated = boxOf(`2:${two},1:${one}`);
  expect(digest).not.toContain('canary');
  expect(rotated.matches(digest, url, 'fingerprint')).toBe(true);
  expect(rotated.matches(digest, `${url}x`, 'fingerprint')).toBe(false);
  expect(rotated.matches(digest, url, 'cursor')).toBe(false);
  expect(boxOf(`3:${two}`).matches(digest, url, 'fingerprint')).toBe(false);
});

test.each(['', 'short', `0:${one}`, `256:${one}`, `${one},${two}`, `1:${one},`])(
  'refuses the key setting %j',
  (text) => {
    expect(secretKeys.safeParse(text).success).toBe(false);
  },
);
