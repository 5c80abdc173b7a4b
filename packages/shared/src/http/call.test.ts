import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { Agent } from 'undici';
import { until } from '../testing/until.ts';
import { call } from './call.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
trace.setGlobalTracerProvider(provider);
const instrumentation = new UndiciInstrumentation();
instrumentation.setTracerProvider(provider);
const silent = createServer(() => undefined);
let url = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
});
afterAll(() => {
  instrumentation.disable();
  silent.closeAllConnections();
  silent.close();
});
beforeEach(() => exporter.reset());

const errorType = async () => {
  const [span] = await until(() => (exporter.getFinishedSpans().length > 0 ? exporter.getFinishedSpans() : undefined));
  return span?.attributes['error.type'];
};

test('a call past its deadline is a timeout, and its span says so by name', async () => {
  const failed = { reason: 'timeout', surelyNotSent: false };
  await expect(call({ method: 'GET', url, timeoutMs: 1_000 })).rejects.toMatchObject(failed);
  expect(await errorType()).toBe('UpstreamTimeoutError');
});

test('a call whose client left is not a timeout', async () => {
  const leaving = new AbortController();
  const gone = Object.assign(new Error('gone'), { name: 'ClientGoneError' });
  const calling = call({ method: 'GET', url, timeoutMs: 5_000, signal: leaving.signal });
  leaving.abort(gone);
  await expect(calling).rejects.toMatchObject({ reason: 'aborted' });
});

test('a closed port surely received nothing', async () => {
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  await expect(call({ method: 'GET', url: 'http://127.0.0.1:1/', timeoutMs: 1_000 })).rejects.toMatchObject(failed);
});

test('a connection that does not come about within the deadline received nothing', async () => {
  const dispatcher = new Agent({ connect: () => undefined });
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  await expect(call({ method: 'POST', url, json: {}, timeoutMs: 50, dispatcher })).rejects.toMatchObject(failed);
});

test('a peer without the TLS it was asked for received nothing of the request', async () => {
  const peer = await listening(createTcpServer((socket) => socket.end('no TLS here')));
  const failed = { reason: 'connect_failed', surelyNotSent: true };
  const address = `https://127.0.0.1:${peer.port}/`;
  await expect(call({ method: 'POST', url: address, json: {}, timeoutMs: 5_000 })).rejects.toMatchObject(failed);
  peer.close();
});

test('a connection that is reset before the answer may have received all', async () => {
  const peer = await listening(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
  const failed = { reason: 'connection_lost', surelyNotSent: false };
  const address = `http://127.0.0.1:${peer.port}/`;
  await expect(call({ method: 'POST', url: address, json: {}, timeoutMs: 5_000 })).rejects.toMatchObject(failed);
  peer.close();
});

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
