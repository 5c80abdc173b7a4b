import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildConsole } from '../../../packages/console/build/build.ts';
import { readConfig } from '../src/config.ts';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vision-console-'));
  await buildConsole(folder);
  gateway = await startGateway({ CONSOLE: 'true', CONSOLE_DIR: folder, CONSOLE_ONE_TIME: 'true' });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

async function newCode(subject = 'acme'): Promise<string> {
  const { status, body } = await gateway.admin('POST', '/admin/v1/console-codes', { subject });
  expect(status).toBe(201);
  return String(body['code']);
}

/** With every header as it is given, `Host` included, which fetch does not allow. */
function post(code: string, headers: Record<string, string> = {}, url = gateway.url) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
  const sent = { authorization: `Console-Code ${code}`, ...headers };
  const req = request(`${url}/console/session`, { method: 'POST', headers: sent, agent: false }, (res) => {
    text(res).then((body) => resolve({ status: res.statusCode, body }), reject);
  });
  req.once('error', reject).end();
  return promise;
}

const reasonOf = ({ body }: { body: string }) => (JSON.parse(body) as { details: { reason: string } }).details.reason;

test('a code answers a key of its subject that expires in 12 hours, once', async () => {
  const code = await newCode('team-c');
  const opened = await post(code);
  expect(opened.status).toBe(201);
  const { key } = JSON.parse(opened.body) as { key: string };
  expect((await exchange(`${gateway.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) })).status).toBe(200);
  const { body } = await gateway.admin('GET', `/admin/v1/keys?id_prefix=${key.slice(3, 19)}`);
  const [row] = body['items'] as { subject: string; name: string; created_at: string; expires_at: string }[];
  expect(row).toMatchObject({ subject: 'team-c', name: 'console' });
  const validMs = Date.parse(row?.expires_at ?? '') - Date.parse(row?.created_at ?? '');
  expect(Math.round(validMs / 60_000)).toBe(12 * 60);
  const again = await post(code);
  expect([again.status, reasonOf(again)]).toEqual([404, 'link_invalid']);
  expect(gateway.log()).not.toContain(code);
});

test('a guessed code is refused, and guesses count as wrong keys do', async () => {
  const replica = await gateway.addReplica({ AUTH_FAILURES_PER_MINUTE: '3' });
  const answers = [];
  for (let guess = 0; guess < 5; guess += 1) answers.push(await post('A'.repeat(43), {}, replica.url));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429, 429]);
  expect(answers.slice(0, 3).map((answer) => reasonOf(answer))).toEqual(Array(3).fill('link_invalid'));
});

test.each([
  ['another host', { host: 'console.example.com' }],
  ['a host that resolves to this machine', { host: '127.0.0.1.example.com' }],
  ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
  ['a proxy that says only the scheme', { 'x-forwarded-proto': 'https' }],
  ['a proxy by the standard', { forwarded: 'for=203.0.113.7' }],
  ['another page', { origin: 'https://evil.example' }],
  ['another site', { 'sec-fetch-site': 'cross-site' }],
])('from %s the address is unknown, and the code stays', async (_name, headers: Record<string, string>) => {
  const code = await newCode();
  expect((await post(code, headers)).status).toBe(401);
  expect((await post(code)).status).toBe(201);
});

test('without CONSOLE_ONE_TIME there are no codes and no sessions', async () => {
  const off = await gateway.addReplica({ CONSOLE_ONE_TIME: 'false' });
  const code = await newCode();
  expect((await post(code, {}, off.url)).status).toBe(401);
  const headers = { ...bearer('admin-token-admin-token'), 'content-type': 'application/json' };
  const refused = await exchange(`${off.adminUrl}/admin/v1/console-codes`, 'POST', {
    headers,
    body: '{"subject":"a"}',
  });
  expect([refused.status, (refused.body['details'] as { reason: string }).reason]).toEqual([404, 'console_codes_off']);
});

test('one-time sign-ins are for a gateway on a loopback address', () => {
  expect(() => readConfig({ ...gateway.env, HOST: '0.0.0.0' })).toThrow('HOST has to be a loopback address');
});
