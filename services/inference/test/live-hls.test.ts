import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { SourceError } from '@vision/streams/source-error';
import { tcpServer } from './support/live-servers.ts';
import {
  atEnd,
  fileServer,
  httpServer,
  longSignal,
  opener,
  playToEnd,
  reasonOf,
  street,
  take,
  watch,
} from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  videos = await videoDirectory();
});
afterAll(() => videos.remove());

/** The street clip as a complete playlist of six segments, encrypted if a key is given; returns the playlist's name. */
async function makePieces(name: string, key?: Buffer): Promise<string> {
  const { directory } = videos;
  const encrypt: string[] = [];
  if (key) {
    await writeFile(join(directory, `${name}.key`), key);
    await writeFile(join(directory, `${name}.info`), `${name}.key\n${join(directory, `${name}.key`)}\n`);
    encrypt.push('-hls_key_info_file', join(directory, `${name}.info`));
  }
  const cut = ['-hls_time', '2', '-hls_list_size', '0', '-hls_playlist_type', 'vod', ...encrypt];
  // Segments begin with a key frame.
  const encode = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-sc_threshold', '0'];
  const pieces = join(directory, `${name}-%d.ts`);
  await videos.make(`${name}.m3u8`, '-i', street, ...encode, ...cut, '-hls_segment_filename', pieces);
  return `${name}.m3u8`;
}

test.each([
  ['plain', undefined],
  ['encrypted', Buffer.from('0123456789abcdef')],
])('a stream of %s segments is fetched here, segment by segment until its end', async (name, key) => {
  const playlist = await makePieces(name, key);
  const asked: string[] = [];
  const base = await fileServer(videos.directory, (file) => {
    asked.push(file);
    return file === 'master.m3u8'
      ? `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=768x576\n${playlist}\n`
      : undefined;
  });
  const frames = await take(watch(`${base}/master.m3u8`), 1000);
  expect(asked.filter((file) => file.endsWith('.ts'))).toEqual([0, 1, 2, 3, 4, 5].map((n) => `${name}-${n}.ts`));
  expect(asked.includes(`${name}.key`)).toBe(key !== undefined);
  expect(frames.every(({ image }) => image.width === 768 && image.height === 576)).toBe(true);
  // 60 samples of 12 s at the pace of the clip; a busy machine skips some.
  expect(frames.length).toBeGreaterThan(20);
  expect((frames.at(-1)?.timeMs ?? 0) - (frames[0]?.timeMs ?? 0)).toBeGreaterThan(8000);
});

test('segments that the key does not decrypt, keys of another length and other methods are no stream', async () => {
  const playlist = await makePieces('locked', Buffer.from('0123456789abcdef'));
  const text = await readFile(join(videos.directory, playlist), 'utf8');
  const base = await fileServer(videos.directory, (file) => {
    if (file === 'wrong.key') return Buffer.from('fedcba9876543210');
    if (file === 'short.key') return Buffer.from('0123');
    if (file === 'long.key') return Buffer.alloc(1000);
    if (file === 'sample.m3u8') return text.replace('METHOD=AES-128', 'METHOD=SAMPLE-AES');
    const [name = '', kind] = file.split('.');
    return kind === 'm3u8' && name !== 'locked' ? text.replace('locked.key', `${name}.key`) : undefined;
  });
  const reasons = Object.fromEntries(
    await Promise.all(
      ['wrong', 'short', 'long', 'none', 'sample'].map(
        async (name) => [name, await reasonOf(watch(`${base}/${name}.m3u8`))] as const,
      ),
    ),
  );
  expect(reasons).toEqual({
    wrong: 'unreadable',
    short: 'unreadable',
    long: 'unreadable',
    none: 'not_found',
    sample: 'codec_unsupported',
  });
});

test('a playlist that never arrives completely is aborted and requested again', async () => {
  const base = await httpServer((_req, res) => {
    res.writeHead(200).write(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n${'#'.repeat(2000)}\n`);
  });
  const url = `${base}/x.m3u8`;
  const live = watch(url, {}, { openInput: opener(url, { openTimeoutMs: 1000 }) });
  const next = live.frames.next();
  await until(() => live.retries.length > 0);
  expect(live.retries[0]).toBe('timeout');
  live.stop();
  expect((await next).value).toBeUndefined();
});

const empty = Buffer.alloc(188, 0xff);
empty.writeUInt32BE(0x471fff10);

test('segments without frames are fetched at a bounded rate, however short they are in the playlist', async () => {
  const arrivals: number[] = [];
  const lines = Array.from({ length: 9_000 }, (_, index) => `#EXTINF:0,\n${index}.ts`);
  const playlist = ['#EXTM3U', '#EXT-X-TARGETDURATION:60', ...lines, '#EXT-X-ENDLIST', ''].join('\n');
  const base = await httpServer((req, res) => {
    arrivals.push(performance.now());
    res.end(req.url === '/x.m3u8' ? playlist : Buffer.concat(Array.from({ length: 6 }, () => empty)));
  });
  const live = watch(`${base}/x.m3u8`);
  const next = live.frames.next();
  await until(() => arrivals.length >= 30);
  // The playlist, a dozen at once and then two a second.
  expect((arrivals[29] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(8000);
  live.stop();
  await next;
});

const onePiece = ['#EXTM3U', '#EXT-X-TARGETDURATION:6', '#EXTINF:6,', 'a.ts', '#EXT-X-ENDLIST', ''].join('\n');

test('a segment is passed on while it arrives', async () => {
  const part = Buffer.alloc(188 * 1000, empty);
  const piece = Promise.withResolvers<ServerResponse>();
  const base = await httpServer((req, res) => {
    if (req.url === '/x.m3u8') return void res.end(onePiece);
    res.write(part);
    piece.resolve(res);
  });
  const input = await opener(`${base}/x.m3u8`)(true, longSignal());
  atEnd(input.close);
  let size = 0;
  input.video.on('data', (chunk: Buffer) => (size += chunk.length));
  input.play();
  await until(() => size === part.length);
  (await piece.promise).end(part);
  await until(() => size === 2 * part.length);
});

test('a segment of more than 16 MiB is no stream', async () => {
  const part = Buffer.alloc(188 * 1000, empty);
  const base = await httpServer((req, res) => {
    if (req.url === '/x.m3u8') return void res.end(onePiece);
    for (let n = 0; n < 100; n += 1) res.write(part);
    res.end();
  });
  const input = await opener(`${base}/x.m3u8`)(true, longSignal());
  atEnd(input.close);
  await playToEnd(input);
  await input.close();
  expect(input.failure()).toBe('unreadable');
});

test('a live playlist is requested again after the time that it names, sooner when it did not change', async () => {
  const clip = await readFile(await videos.make('piece.ts', '-i', street, '-t', '1', '-c', 'copy', '-f', 'mpegts'));
  const asked: number[] = [];
  const base = await httpServer((req, res) => {
    if (req.url !== '/x.m3u8') return void res.end(clip);
    asked.push(performance.now());
    // Grows with the second response, then does not change.
    const count = Math.min(asked.length, 2);
    const pieces = Array.from({ length: count }, (_, index) => `#EXTINF:1,\n${index}.ts`);
    res.end(['#EXTM3U', '#EXT-X-TARGETDURATION:8', ...pieces, ''].join('\n'));
  });
  const live = watch(`${base}/x.m3u8`);
  const next = take(live, 1000).catch(() => undefined);
  await until(() => asked.length >= 4);
  const pauses = asked.slice(1, 4).map((at, index) => at - (asked[index] ?? 0));
  // Eight, eight and four seconds, less the delay of the first of two requests.
  expect(pauses[0]).toBeGreaterThan(4500);
  expect(pauses[1]).toBeGreaterThan(4500);
  expect(pauses[2]).toBeGreaterThan(1000);
  live.stop();
  await next;
});

test('a playlist reaches only addresses that the rules allow, and a key from a forbidden address is not fetched', async () => {
  const inner = await tcpServer(() => undefined);
  atEnd(inner.close);
  const lines = [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:2',
    `#EXT-X-KEY:METHOD=AES-128,URI="http://localhost:${inner.port}/key"`,
  ];
  const base = await httpServer((_req, res) =>
    res.end([...lines, '#EXTINF:2,', 'a.ts', '#EXT-X-ENDLIST', ''].join('\n')),
  );
  const resolve = async ({ host }: { host: string }) => {
    if (host !== '127.0.0.1') throw new SourceError('address_forbidden');
    return host;
  };
  const openInput = opener(`${base}/x`, { resolve });
  expect(await reasonOf(watch(base, {}, { openInput }))).toBe('address_forbidden');
  expect(inner.seen.connections).toBe(0);
});
