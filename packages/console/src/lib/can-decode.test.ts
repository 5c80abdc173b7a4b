import { expect, test } from '@jest/globals';
import { canDecode } from './can-decode.ts';

/** A browser that plays H.264 only. */
const asked: MediaDecodingConfiguration[] = [];
const browser = {
  decodingInfo: (query: MediaDecodingConfiguration) => {
    asked.push(query);
    const supported = query.video?.contentType.includes('avc1') === true;
    return Promise.resolve({ supported, smooth: supported, powerEfficient: false, configuration: query });
  },
} as unknown as MediaCapabilities;

test('a browser is asked by codec and size', async () => {
  const image = { width: 3840, height: 2160 };
  expect(await canDecode({ codec: 'h264', image }, browser)).toBe(true);
  expect(await canDecode({ codec: 'hevc', image }, browser)).toBe(false);
  expect(asked.map(({ video }) => [video?.width, video?.height])).toEqual([
    [3840, 2160],
    [3840, 2160],
  ]);
});

test('what cannot be known before is tried', async () => {
  const failing = { decodingInfo: () => Promise.reject(new TypeError('made up')) } as unknown as MediaCapabilities;
  expect(await canDecode({ codec: 'mpeg4' }, browser)).toBe(true);
  expect(await canDecode({}, browser)).toBe(true);
  expect(await canDecode({ codec: 'hevc' }, undefined)).toBe(true);
  expect(await canDecode({ codec: 'hevc' }, failing)).toBe(true);
});
