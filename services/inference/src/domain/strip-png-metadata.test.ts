import { expect, test } from '@jest/globals';
import { stripPngMetadata } from './strip-png-metadata.ts';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function chunk(type: string, text = ''): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, Buffer.from(type + text, 'latin1'), Buffer.from('crc4')]);
}

test('chunks that change the pixels stay in their order', () => {
  const png = Buffer.concat([
    signature,
    ...['IHDR', 'iCCP', 'PLTE', 'tRNS', 'eXIf', 'IDAT', 'IEND'].map((type) => chunk(type, 'x')),
  ]);
  expect(Buffer.from(stripPngMetadata(png))).toEqual(png);
});

test('text, animation and chunks of unknown use go, in any position', () => {
  const [head, data, end] = [chunk('IHDR', 'head'), chunk('IDAT', 'data'), chunk('IEND')];
  const [text, more] = [chunk('zTXt', 'text'), chunk('iTXt', 'more')];
  const png = Buffer.concat([signature, head, text, chunk('acTL', 'a'), data, more, chunk('tEXt'), chunk('abCd'), end]);
  expect(Buffer.from(stripPngMetadata(png))).toEqual(Buffer.concat([signature, head, data, end]));
});

test('what follows broken framing is passed on for the decoder to refuse', () => {
  for (const rest of ['', '\0\0\0', '\xff\xff\xff\xffzTXtshort', 'no chunk at all']) {
    const png = Buffer.concat([signature, chunk('IHDR', 'head'), Buffer.from(rest, 'latin1')]);
    expect(Buffer.from(stripPngMetadata(png))).toEqual(png);
  }
});
