import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { capture, decoded } from './support/captured.ts';
import { atEnd, longSignal, opener } from './support/live-watch.ts';
import { rtspServer } from './support/rtsp-server.ts';
import { info, scriptedRtmp } from './support/scripted-rtmp.ts';
import type { RtmpViewer } from './support/scripted-rtmp.ts';
import { MESSAGE } from '../src/inputs/rtmp/rtmp-message.ts';
import { videoDirectory } from './support/videos.ts';

const run = promisify(execFile);
const SOURCE = ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25:d=4'];
const CODECS: Record<string, string[]> = {
  h264: ['-c:v', 'libx264', '-g', '25', '-bf', '2'],
  h265: ['-c:v', 'libx265', '-x265-params', 'log-level=0:keyint=25:open-gop=0', '-tag:v', 'hvc1'],
  mjpeg: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-huffman', 'default'],
};

let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

const make = (codec: string) => videos.make(`${codec}.mp4`, ...SOURCE, ...(CODECS[codec] ?? []));

/** The output is a part of the source, frame by frame, at intervals that are exact to a millisecond. */
async function expectPartOf(source: string, captured: string, least: number): Promise<void> {
  const all = await decoded(source);
  const part = (await decoded(captured)).slice(0, least);
  expect(part).toHaveLength(least);
  const start = all.findIndex(({ picture }) => picture === part[0]?.picture);
  // A test server repeats its file; only frames before the repetition are compared.
  const expected = all.slice(start, start + part.length);
  const compared = part.slice(0, expected.length);
  expect(compared.map(({ picture }) => picture)).toEqual(expected.map(({ picture }) => picture));
  const since = (list: typeof all) => list.map(({ timeMs }) => timeMs - (list[0]?.timeMs ?? 0));
  expect(since(compared)).toEqual(since(expected));
}

test.each(Object.keys(CODECS))(
  'frames of %s over RTSP are those of the camera, and so are their times',
  async (codec) => {
    const source = await make(codec);
    const server = await rtspServer(source, { path: '/cam' });
    atEnd(server.close);
    const input = await opener(`rtsp://127.0.0.1:${server.port}/cam`)(true, longSignal());
    const captured = join(videos.directory, `rtsp-${codec}.mkv`);
    await capture(input, captured, 60);
    await expectPartOf(source, captured, 55);
  },
);

interface Sample {
  bytes: Buffer;
  dtsMs: number;
  offsetMs: number;
  isKey: boolean;
}

/** The samples of a video as stored in its file, and the record that describes their codec. */
async function samplesOf(path: string, record: string): Promise<{ samples: Sample[]; configuration: Buffer }> {
  const entries = ['-select_streams', 'v', '-show_entries', 'packet=pts_time,dts_time,size,pos,flags', '-of', 'json'];
  const { stdout } = await run('ffprobe', ['-v', 'error', ...entries, path], { maxBuffer: 1 << 26 });
  const { packets } = JSON.parse(stdout) as { packets: Record<string, string>[] };
  const file = await open(path);
  const whole = await file.readFile();
  await file.close();
  const at = whole.indexOf(record);
  const samples = packets.map(({ pts_time: pts, dts_time: dts, size, pos, flags = '' }) => ({
    bytes: whole.subarray(Number(pos), Number(pos) + Number(size)),
    dtsMs: Math.round(Number(dts) * 1000),
    offsetMs: Math.round((Number(pts) - Number(dts)) * 1000),
    isKey: flags.startsWith('K'),
  }));
  return { samples, configuration: whole.subarray(at + 4, at - 4 + whole.readUInt32BE(at - 4)) };
}

type Head = (isKey: boolean, packet: 0 | 1) => Buffer;
const legacy =
  (codec: number): Head =>
  (isKey, packet) =>
    Buffer.from([(isKey ? 0x10 : 0x20) | codec, packet]);
const enhanced =
  (name: string): Head =>
  (isKey, packet) =>
    Buffer.concat([Buffer.from([(isKey ? 0x90 : 0xa0) | packet]), Buffer.from(name)]);

test.each<[string, string, string, Head]>([
  ['H.264', 'h264', 'avcC', legacy(7)],
  ['H.265 by number', 'h265', 'hvcC', legacy(12)],
  ['H.265 by name', 'h265', 'hvcC', enhanced('hvc1')],
])('frames of %s over RTMP are those of the camera, and so are their times', async (name, codec, record, head) => {
  const source = await make(codec);
  const { samples, configuration } = await samplesOf(source, record);
  const base = (samples[0]?.dtsMs ?? 0) - 1000;
  const isByName = head(true, 0).length > 2;
  const play = (viewer: RtmpViewer) => {
    const offset = isByName ? Buffer.alloc(0) : Buffer.alloc(3);
    viewer.send(MESSAGE.video, Buffer.concat([head(true, 0), offset, configuration]));
    for (const { bytes, dtsMs, offsetMs, isKey } of samples) {
      const shown = Buffer.alloc(3);
      shown.writeIntBE(offsetMs, 0, 3);
      viewer.send(MESSAGE.video, Buffer.concat([head(isKey, 1), shown, bytes]), dtsMs - base);
    }
    viewer.say('onStatus', 0, null, info({ level: 'status', code: 'NetStream.Play.Stop' }));
  };
  const server = await scriptedRtmp({ play });
  atEnd(server.close);
  const input = await opener(`rtmp://127.0.0.1:${server.port}/live/key`)(true, longSignal());
  const captured = join(videos.directory, `rtmp-${name.replaceAll(/\W/g, '')}.mkv`);
  await capture(input, captured, Infinity);
  await expectPartOf(source, captured, samples.length);
});
