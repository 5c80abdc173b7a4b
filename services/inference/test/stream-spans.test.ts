import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runTraced, startSpanReceiver } from '@vision/shared/testing/span-receiver';
import type { SpanReceiver } from '@vision/shared/testing/span-receiver';
import { httpServer } from './support/live-watch.ts';

const preload = fileURLToPath(new URL('../src/telemetry.ts', import.meta.url));
const program = fileURLToPath(new URL('./fixtures/read-a-stream.ts', import.meta.url));
const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\ncamera-piece.ts?sign=camera-sign\n#EXT-X-ENDLIST\n';
let receiver: SpanReceiver;

beforeAll(async () => {
  receiver = await startSpanReceiver();
});
afterAll(() => receiver.close());

test('the span of a stream of pieces tells its scheme and host, no piece of it has one, and no server receives the trace', async () => {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  const base = await httpServer((req, res) => {
    asked.push({ path: req.url ?? '', headers: req.headers });
    if (req.url?.startsWith('/camera-list.m3u8')) {
      res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist);
    } else {
      res.writeHead(200, { 'content-type': 'video/mp2t' }).end(Buffer.alloc(188 * 40, Buffer.from('G')));
    }
  });
  const url = `${base.replace('//', '//camera-user:camera-password@')}/camera-list.m3u8?token=camera-token`;
  await runTraced(preload, program, [], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, STREAM_URL: url });
  expect(asked.map(({ path }) => path)).toContain('/camera-piece.ts?sign=camera-sign');
  expect(asked.flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent');
  const spans = receiver.text();
  for (const told of ['open a stream', 'server.address', '127.0.0.1']) expect(spans).toContain(told);
  expect(spans).not.toMatch(/camera-|token|sign/);
});
