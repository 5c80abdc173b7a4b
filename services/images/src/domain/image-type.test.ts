import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeclaredImage, sniffImageType } from './image-type.ts';

const example = (name: string) => readFileSync(join(import.meta.dirname, '../../../../examples', name));

test.each([
  ['street.jpg', 'image/jpeg'],
  ['street.png', 'image/png'],
  ['street.webp', 'image/webp'],
  ['street.mp4', undefined],
])('%s is recognised by its first bytes', (name, type) => {
  expect(sniffImageType(example(name).subarray(0, 12))).toBe(type);
});

test.each(['', 'GIF89a', '<svg xmlns=', 'RIFF....WAVE', '\x89PNG', 'BM......', '%PDF-1.7 ...'])(
  'what begins with %j is no accepted image',
  (head) => {
    expect(sniffImageType(Buffer.from(head, 'latin1'))).toBeUndefined();
  },
);

test('accepts the declared type in any case and with parameters', () => {
  expect(['image/jpeg', 'IMAGE/PNG', 'image/webp; a=b', 'image/jpg'].map(isDeclaredImage)).toEqual(Array(4).fill(true));
  expect(['', 'text/plain', 'image/gif', 'image/svg+xml', 'image'].map(isDeclaredImage)).toEqual(Array(5).fill(false));
});
