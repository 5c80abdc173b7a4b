import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildConsole } from '../../../packages/console/build/build.ts';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

let folder: string;
let gateway: TestGateway;
let script: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vision-console-'));
  await buildConsole(folder);
  script = (await readdir(folder)).find((name) => /^app-.*\.js$/.test(name)) ?? '';
  gateway = await startGateway({ CONSOLE: 'true', CONSOLE_DIR: folder });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, base = gateway.url) =>
  fetch(base + path, { headers, redirect: 'manual' });

test('the page is served with headers that let it load and send nothing elsewhere', async () => {
  const page = await get('/console/');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain(`/console/${script}`);
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'permissions-policy': expect.stringContaining('camera=()'),
  });
});

test('its files are compressed as the client asks, and kept for good under their names', async () => {
  for (const [accepted, coding] of [
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const file = await get(`/console/${script}`, { 'accept-encoding': accepted });
    expect([file.status, file.headers.get('content-encoding')]).toEqual([200, coding]);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('vary')).toContain('Accept-Encoding');
    expect((await file.text()).length).toBeGreaterThan(10_000);
  }
});

test('a page that the client has is not sent again; a range is the whole file', async () => {
  const etag = (await get('/console/')).headers.get('etag') ?? '';
  expect((await get('/console/', { 'if-none-match': etag })).status).toBe(304);
  const ranged = await get(`/console/${script}`, { range: 'bytes=9-2' });
  expect([ranged.status, (await ranged.text()).length > 10_000]).toEqual([200, true]);
});

test('the address without a slash leads to the page', async () => {
  const answer = await get('/console');
  expect([answer.status, answer.headers.get('location')]).toEqual([308, '/console/']);
});

test('other addresses and methods are those of the API', async () => {
  const { key } = await gateway.newKey();
  for (const path of ['/console/x.js', '/console/../package.json', '/console/%2e%2e/package.json', '/console/app']) {
    expect((await exchange(gateway.url + path, 'GET', { headers: bearer(key) })).status).toBe(404);
    expect((await exchange(gateway.url + path, 'GET')).status).toBe(401);
  }
  expect((await exchange(`${gateway.url}/console/`, 'POST', { headers: bearer(key) })).status).toBe(404);
});

test('without CONSOLE, and on the admin port, there is no console', async () => {
  const { key } = await gateway.newKey();
  const { url } = await gateway.addReplica({ CONSOLE: 'false' });
  for (const path of ['/console/', '/console', `/console/${script}`]) {
    expect((await exchange(url + path, 'GET', { headers: bearer(key) })).status).toBe(404);
    expect((await get(path, {}, gateway.adminUrl)).status).toBe(401);
  }
});

test('a gateway without a built console does not start', async () => {
  await expect(gateway.addReplica({ CONSOLE_DIR: join(folder, 'none') })).rejects.toThrow('holds no built console');
});
