import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { AppError } from '@vision/contracts/errors';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { ClientGoneError } from '@vision/shared/upstream/ended-call';
import { isModelReady } from '../src/clients/infer.ts';
import { createKserveDetector } from '../src/detectors/kserve-detector.ts';

interface Seen {
  path: string;
  head: { inputs: { name: string; datatype: string; shape: number[] }[]; outputs: { name: string }[] };
  tensor: Float32Array;
}

/** The next response of the model server; set by each test. */
let answer: (res: ServerResponse) => void = (res) => res.end();
let seen: Seen | undefined;
let server: Server;
const recorded = recordSpans();
let url = '';

beforeAll(async () => {
  server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = undefined;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  return recorded.stop();
});

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (req.url?.endsWith('/ready')) {
    res.writeHead(req.url.includes('cattle') ? 200 : 404).end();
    return;
  }
  const length = Number(req.headers['inference-header-content-length']);
  seen = {
    path: req.url ?? '',
    head: JSON.parse(body.subarray(0, length).toString()) as Seen['head'],
    tensor: new Float32Array(Uint8Array.from(body.subarray(length)).buffer),
  };
  answer(res);
}

const detectorOf = (timeoutMs = 120_000) =>
  createKserveDetector({
    kind: 'kserve',
    url,
    model: 'cattle',
    version: '3',
    timeout_ms: timeoutMs,
    classes: ['cow', 'sheep'],
    input: {
      name: 'pixels',
      shapes: [[4, 4]],
      resize: 'letterbox',
      padding_value: 0,
      colour_order: 'rgb',
      layout: 'nchw',
      data_type: 'float32',
      mean: [0, 0, 0],
      std: [255, 255, 255],
    },
    decode: { kind: 'boxes', boxes: 'boxes', scores: 'scores', labels: 'labels', format: 'xyxy', normalized: false },
    nms_iou: 0.6,
    max_objects: 10,
  });

const red = { width: 4, height: 2, data: new Uint8Array(24).map((_, index) => (index % 3 === 0 ? 255 : 0)) };
const options = { minScore: 0.3, labels: ['cow', 'sheep'] };
const sheep = {
  label: 'sheep',
  score: 0.75,
  bbox: { format: 'cxcywh_normalized', cx: 0.25, cy: 0.5, width: 0.5, height: 1 },
};

/** Two boxes, the second below the requested score; outputs as JSON numbers. */
const outputs = [
  { name: 'boxes', datatype: 'FP32', shape: [1, 2, 4], data: [0, 1, 2, 3, 0, 0, 4, 4] },
  { name: 'scores', datatype: 'FP32', shape: [1, 2], data: [0.75, 0.1] },
  { name: 'labels', datatype: 'INT64', shape: [1, 2], data: [1, 0] },
];

function answerBinary(res: ServerResponse): void {
  const parts = outputs.map(({ datatype, data }) =>
    Buffer.from(datatype === 'INT64' ? BigInt64Array.from(data, BigInt).buffer : Float32Array.from(data).buffer),
  );
  const described = outputs.map(({ data: _data, ...output }, index) => ({
    ...output,
    parameters: { binary_data_size: parts[index]?.length },
  }));
  const head = Buffer.from(JSON.stringify({ model_name: 'cattle', outputs: described }));
  res.writeHead(200, { 'inference-header-content-length': head.length }).end(Buffer.concat([head, ...parts]));
}

test('the image travels as a binary tensor to the model and version of the registry', async () => {
  answer = answerBinary;
  await detectorOf().detect(red, options);
  expect(seen?.path).toBe('/v2/models/cattle/versions/3/infer');
  expect(seen?.head.inputs[0]).toMatchObject({ name: 'pixels', datatype: 'FP32', shape: [1, 3, 4, 4] });
  expect(seen?.head.outputs.map(({ name }) => name)).toEqual(['boxes', 'scores', 'labels']);
  // Red plane: one row of padding, two rows of the image, one row of padding.
  expect([...(seen?.tensor.subarray(0, 16) ?? [])]).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
});

test('outputs in binary form become objects of the image', async () => {
  answer = answerBinary;
  expect(await detectorOf().detect(red, options)).toEqual([sheep]);
});

test('outputs as JSON numbers become the same objects', async () => {
  answer = (res) => res.end(JSON.stringify({ outputs }));
  expect(await detectorOf().detect(red, options)).toEqual([sheep]);
});

test('an image of another size is scaled to what the model needs', async () => {
  answer = answerBinary;
  const large = {
    width: 400,
    height: 200,
    data: new Uint8Array(240_000).map((_, index) => (index % 3 === 0 ? 255 : 0)),
  };
  expect(detectorOf().fit(large)).toMatchObject({ width: 4, height: 2 });
  expect(await detectorOf().detect(large, options)).toEqual([sheep]);
  expect(seen?.tensor[4]).toBe(1);
});

test.each<[string, (res: ServerResponse) => void]>([
  ['refuses', (res) => res.writeHead(500).end('{"error":"out of memory"}')],
  ['answers no JSON', (res) => res.end('<html>')],
  ['hangs up', (res) => res.destroy()],
  ['leaves an output out', (res) => res.end(JSON.stringify({ outputs: outputs.slice(0, 2) }))],
  [
    'lies about a shape',
    (res) => res.end(JSON.stringify({ outputs: outputs.map((o) => ({ ...o, shape: [1, 9, 4] })) })),
  ],
  ['never answers', () => undefined],
])('a model server that %s is the fault of the backend', async (_case, misbehave) => {
  answer = misbehave;
  const failure: unknown = await detectorOf(300)
    .detect(red, options)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AppError);
  expect(failure).toMatchObject({ kind: 'unavailable', reason: 'model_server_failed' });
});

test('a caller that aborts ends the call', async () => {
  const gone = new AbortController();
  answer = () => gone.abort(new Error('client left'));
  await expect(detectorOf().detect(red, { ...options, signal: gone.signal })).rejects.toThrow('client left');
});

test('readiness is that of the model on the server', async () => {
  const spec = { url, model: 'cattle', timeout_ms: 120_000 } as Parameters<typeof isModelReady>[0];
  expect(await isModelReady(spec)).toBe(true);
  expect(await isModelReady({ ...spec, model: 'horses' })).toBe(false);
  expect(await isModelReady({ ...spec, url: 'http://127.0.0.1:1' })).toBe(false);
});

test.each<[string, (res: ServerResponse) => void, Record<string, unknown>, number]>([
  ['does not answer', () => undefined, { 'error.type': 'headers_timeout', 'app.timeout.limit_ms': 3_000 }, 3_000],
  // The request, and here the head of its response, must arrive within the time, also on a busy machine.
  [
    'stops in the middle',
    (res) => void res.write('{'),
    { 'error.type': 'body_timeout', 'app.timeout.limit_ms': 6_000 },
    6_000,
  ],
  [
    'refuses',
    (res) => res.writeHead(500).end(),
    { 'error.type': 'answered_5xx', 'http.response.status_code': 500 },
    120_000,
  ],
  ['hangs up', (res) => res.destroy(), { 'error.type': 'connection_lost' }, 120_000],
  ['answers no JSON', (res) => res.end('<html>'), { 'error.type': 'reply_unreadable' }, 120_000],
])('the span of a model server that %s says so', async (_what, answerOf, told, timeoutMs) => {
  answer = answerOf;
  recorded.clear();
  await expect(detectorOf(timeoutMs).detect(red, options)).rejects.toThrow();
  const span = recorded.spans().find(({ name }) => name === 'triton infer');
  expect(span?.attributes).toMatchObject({ 'app.upstream.name': 'triton', 'app.model': 'cattle', ...told });
  expect(span?.attributes['app.bytes_sent']).toBeGreaterThan(192);
});

test('the span of a model server that accepts no connection says that no request was sent', async () => {
  const usual = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ connect: () => undefined }));
  recorded.clear();
  await expect(detectorOf(100).detect(red, options)).rejects.toThrow();
  setGlobalDispatcher(usual);
  const told = { 'error.type': 'connect_timeout', 'app.timeout.limit_ms': 100, 'app.bytes_sent': 0 };
  expect(recorded.spans()[0]?.attributes).toMatchObject(told);
});

test('an aborted call of a model server is no error', async () => {
  answer = () => undefined;
  recorded.clear();
  const leaving = new AbortController();
  const detecting = detectorOf().detect(red, { ...options, signal: leaving.signal });
  leaving.abort(new ClientGoneError());
  await expect(detecting).rejects.toBeInstanceOf(ClientGoneError);
  const { attributes } = recorded.spans()[0] ?? {};
  expect([attributes?.['app.call.outcome'], attributes?.['error.type']]).toEqual(['client_left', undefined]);
});
