import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runTraced, startSpanReceiver } from '@vision/shared/testing/span-receiver';
import type { SpanReceiver } from '@vision/shared/testing/span-receiver';

const preload = fileURLToPath(new URL('../src/telemetry.ts', import.meta.url));
const program = fileURLToPath(new URL('./fixtures/probe-a-stream.ts', import.meta.url));
const asked: IncomingHttpHeaders[] = [];
let camera: Server;
let receiver: SpanReceiver;

beforeAll(async () => {
  receiver = await startSpanReceiver();
  camera = createServer((req, res) => {
    asked.push(req.headers);
    res.writeHead(200, { 'content-type': 'video/mp2t' }).end(Buffer.alloc(188 * 4, Buffer.from('G')));
  });
  await new Promise<void>((resolve) => camera.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await receiver.close();
  await new Promise((resolve) => camera.close(resolve));
});

test('the span of a probe contains only scheme and host of the stream, and the camera gets no trace headers', async () => {
  const { port } = camera.address() as AddressInfo;
  const url = `http://camera-user:camera-password@127.0.0.1:${port}/live/camera-key?token=camera-token`;
  const outcome = await runTraced(preload, program, [], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, STREAM_URL: url });
  expect(outcome).toBe('reached');
  expect(asked).toHaveLength(1);
  expect(Object.keys(asked[0] ?? {})).not.toContain('traceparent');
  const spans = receiver.text('/v1/traces');
  for (const told of ['probe a stream', 'server.address', '127.0.0.1']) expect(spans).toContain(told);
  expect(spans).not.toMatch(/camera-|live|token/);
});
