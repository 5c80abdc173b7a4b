import { execFile, spawn } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { startDecoder } from '../src/decoding/decoder.ts';
import type { Decoder } from '../src/decoding/decoder.ts';
import { fileArguments, liveArguments } from '../src/decoding/ffmpeg-arguments.ts';
import { onRecords } from '../src/decoding/frame-records.ts';
import { UPRIGHT } from '../src/domain/mp4/turn.ts';
import { commandLines, street } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';
import { sandbox } from './support/sandbox.ts';

function decode(path: string): Decoder {
  const args = fileArguments(path, { fps: 5, scaled: { width: 64, height: 48 }, turn: UPRIGHT, hasEdits: true });
  return startDecoder(args, {
    sandbox,
    file: path,
    isSizeFixed: true,
    killGraceMs: 3000,
  });
}

test('a decoder whose last frames are not read ends when its reader stops', async () => {
  const videos = await videoDirectory();
  const path = join(videos.directory, 'street.mp4');
  await copyFile(street, path);
  const decoder = decode(path);
  const frames = decoder.frames();
  for (let count = 0; count < 50; count += 1) expect((await frames.next()).done).toBe(false);
  // Ten small frames fit into the pipe, so ffmpeg does not wait for a reader.
  await until(async () => (await commandLines()).every((line) => !line.includes(path)));
  await frames.return();
  // Settles when the process has ended and its pipes are closed.
  expect(await decoder.outcome).toBeUndefined();
  await videos.remove();
});

test('a stopped decoder returns none of the frames that it read ahead', async () => {
  const decoder = decode(street);
  const frames = decoder.frames();
  expect((await frames.next()).done).toBe(false);
  await decoder.stop();
  expect(await frames.next()).toEqual({ done: true, value: undefined });
});

test('a decoder whose reader stops in the middle ends as well', async () => {
  const decoder = decode(street);
  for await (const _frame of decoder.frames()) break;
  expect(['decoder_failed', 'connection_failed', undefined]).toContain(await decoder.outcome);
});

test('the stop of a decoder without reads resolves after its process has ended', async () => {
  const videos = await videoDirectory();
  const path = join(videos.directory, 'stopped.mp4');
  await copyFile(street, path);
  const decoder = decode(path);
  expect((await commandLines()).some((line) => line.includes(path))).toBe(true);
  await decoder.stop();
  expect((await commandLines()).filter((line) => line.includes(path))).toEqual([]);
  // ffmpeg may notice the signal or the closed pipe first.
  expect(['decoder_failed', 'connection_failed', undefined]).toContain(await decoder.outcome);
  expect(await decoder.frames().next()).toEqual({ done: true, value: undefined });
  await videos.remove();
});

test('a frame of a live stream comes out before the next one is there', async () => {
  const transport = ['-v', 'error', '-i', street, '-map', '0:v:0', '-c', 'copy', '-f', 'mpegts', 'pipe:1'];
  const { stdout: stream } = await promisify(execFile)('ffmpeg', transport, { encoding: 'buffer', maxBuffer: 2 ** 26 });
  const fit = { kind: 'longest_side', side: 64 } as const;
  const args = liveArguments({ container: 'mpegts', delivery: 'body' }, { fps: 5, fit });
  const decoder = spawn('ffmpeg', args, { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
  let [bytes, records] = [0, 0];
  decoder.stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length));
  onRecords(decoder.stdio[3] as Readable, () => (records += 1));
  // The stream is still open, but no more data has arrived.
  decoder.stdin?.write(stream);
  const size = 64 * 48 * 3;
  await until(() => records >= 55 && bytes === records * size).finally(() => decoder.kill('SIGKILL'));
});
