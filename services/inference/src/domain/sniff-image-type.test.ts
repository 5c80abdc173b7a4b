import { expect, test } from '@jest/globals';
import { sniffImageType } from './sniff-image-type.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['jpeg', bytes('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['png', bytes('\x89PNG\r\n\x1a\n\0\0\0\r')],
  ['webp', bytes('RIFF\x10\0\0\0WEBPVP8 ')],
] as const)('%s is known by its leading bytes', (type, head) => {
  expect(sniffImageType(head)).toBe(type);
});

test.each([
  ['nothing', bytes('')],
  ['a GIF', bytes('GIF89a')],
  ['an SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a TIFF', bytes('II*\0')],
  ['a HEIC', bytes('\0\0\0\x18ftypheic')],
  ['a WAV', bytes('RIFF\x10\0\0\0WAVEfmt ')],
  ['a PNG with broken line ends', bytes('\x89PNG\n\x1a\n')],
  ['half a JPEG marker', bytes('\xff\xd8')],
])('%s is none of the types', (_case, head) => {
  expect(sniffImageType(head)).toBeUndefined();
});
