import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '@vision/contracts/errors';
import { readIdempotencyKey } from '../src/idempotency-key.ts';

const server = createServer((req, res) => {
  try {
    res.end(readIdempotencyKey(req).key);
  } catch (error) {
    res.writeHead(400).end(error instanceof AppError ? error.reason : 'no refusal');
  }
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.close();
});

test.each([
  ['none', [], 'idempotency_key_missing'],
  ['two', ['8f14e45f-ceea-467f-9d0a-000000000001', '8f14e45f-ceea-467f-9d0a-000000000001'], 'idempotency_key_invalid'],
  ['braces', ['{8f14e45f-ceea-467f-9d0a-000000000001}'], 'idempotency_key_invalid'],
  ['no hyphens', ['8f14e45fceea467f9d0a000000000001'], 'idempotency_key_invalid'],
])('Idempotency-Key: %s is refused', async (_name, values, reason) => {
  expect(await answerTo(values)).toEqual([400, reason]);
});

test('Idempotency-Key: a UUID is read', async () => {
  const key = '8f14e45f-ceea-467f-9d0a-000000000001';
  expect(await answerTo([key])).toEqual([200, key]);
});

function answerTo(values: string[]): Promise<[status: number | undefined, text: string]> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const headers = ['Host', 'x', ...values.flatMap((value) => ['Idempotency-Key', value])];
    const sent = request({ host: '127.0.0.1', port, headers, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve([res.statusCode, text]));
    });
    sent.on('error', reject).end();
  });
}
