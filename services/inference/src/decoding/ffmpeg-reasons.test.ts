import { expect, test } from '@jest/globals';
import { createMessageReader } from './ffmpeg-reasons.ts';

function read(...chunks: string[]) {
  const sizes: unknown[] = [];
  const reader = createMessageReader((geometry) => sizes.push(geometry));
  chunks.forEach((chunk) => reader.push(chunk));
  return { reason: reader.reason(), sizes };
}

test.each([
  ["[error] Stream map '0:V:0' matches no streams.\n", 'no_video_track'],
  [
    '[mov,mp4 @ 0x1] [error] moov atom not found\n[error] file:/x: Invalid data found when processing input\n',
    'unreadable',
  ],
  ['[fatal] Decoder (codec av2) not found for input stream #0:0\n', 'codec_unsupported'],
])('%j means %s', (text, reason) => {
  expect(read(text).reason).toBe(reason);
});

test('an audio decoder that is not allowed does not make the video unsupported', () => {
  expect(read("[aac @ 0x1] [error] Codec (aac) not on whitelist 'h264'\n").reason).toBeUndefined();
});

test('sizes are read from the scaler, also when its line comes in pieces, and not from the title of a stream', () => {
  const line =
    '[Parsed_scale_1 @ 0x5] [verbose] w:768 h:576 fmt:yuv420p sar:0/1 -> w:416 h:312 fmt:rgb24 sar:0/1 flags:0x4';
  const { sizes } = read(`[info]     title : ${line}\n${line.slice(0, 40)}`, `${line.slice(40)}\n`);
  expect(sizes).toEqual([{ codec: undefined, width: 768, height: 576, scaledWidth: 416, scaledHeight: 312 }]);
});

test('a message without an end takes no memory', () => {
  expect(read(...Array.from({ length: 100 }, () => 'x'.repeat(10_000))).reason).toBeUndefined();
});

test('the codec is that of the source, not of what comes out or of what a title says', () => {
  const { sizes } = read(
    '[info]     title : Stream #0:0: Video: fake\n',
    '[info]   Stream #0:0[0x1](und): Video: hevc (Main), yuv420p(tv), 1280x720, 25 fps\n',
    '[info]   Stream #0:0(und): Video: rawvideo (RGB[24]), rgb24, 416x312\n',
    '[Parsed_scale_1 @ 0x5] [verbose] w:768 h:576 fmt:yuv420p sar:0/1 -> w:416 h:312 fmt:rgb24 sar:0/1\n',
  );
  expect(sizes).toEqual([{ codec: 'hevc', width: 768, height: 576, scaledWidth: 416, scaledHeight: 312 }]);
});
