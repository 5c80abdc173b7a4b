import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';
import { startGatewayProcess } from './support/programs.ts';
import { valuesOf } from './support/upstream.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('a process tells its decisions as metrics and counts every one made without Redis', async () => {
  const program = await startGatewayProcess({ ...gateway.env, REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const { key } = await gateway.newKey({ burst: 2, requests_per_second: 0.1 });
    for (let turn = 0; turn < 3; turn += 1) {
      await exchange(`${program.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) });
    }
    await exchange(`${program.url}/api/op/v1/scenes`);
    const { text } = await exchange(`${program.healthUrl}/metrics`);
    const value = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
    expect(value(/^vision_gateway_redis_fallbacks_total\{.*\} (\d+)$/m)).toBe(3);
    expect(value(/^vision_gateway_limit_decisions_total\{limit="requests",decision="allowed".*\} (\d+)$/m)).toBe(2);
    expect(value(/^vision_gateway_limit_decisions_total\{limit="requests",decision="refused".*\} (\d+)$/m)).toBe(1);
    expect(value(/^vision_gateway_requests_total\{operation="listScenes",status="200".*\} (\d+)$/m)).toBe(2);
    expect(value(/^vision_gateway_auth_refusals_total\{reason="api_key_missing".*\} (\d+)$/m)).toBe(1);
    // Alarms begin at 0, so that their first increase is seen.
    expect(value(/^vision_gateway_key_store_errors_total\{.*\} (\d+)$/m)).toBe(0);
    expect(value(/^vision_gateway_upstream_errors_total\{upstream="quota".*\} (\d+)$/m)).toBe(0);
    expect(text).not.toContain(key);
  } finally {
    expect(await program.stop()).toBe(0);
  }
});

test('a trace begins here, with any trace of the client, and goes on in the service behind', async () => {
  const program = await startGatewayProcess(gateway.env);
  try {
    const { key } = await gateway.newKey();
    const outside = '0af7651916cd43dd8448eb211c80319c';
    const { headers } = await exchange(`${program.url}/v1/vision/usage`, 'GET', {
      headers: { ...bearer(key), traceparent: `00-${outside}-b7ad6b7169203331-01`, baggage: 'user=root' },
    });
    const traceId = headers.get('x-trace-id');
    expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(traceId).not.toBe(outside);
    const { rawHeaders } = gateway.upstream.last();
    expect(valuesOf(rawHeaders, 'traceparent')).toEqual([expect.stringContaining(`00-${traceId ?? ''}-`)]);
    expect(valuesOf(rawHeaders, 'baggage')).toEqual([]);
    const refused = await exchange(`${program.url}/nothing`, 'GET', { headers: bearer(key) });
    expect(refused.body['trace_id']).toBe(refused.headers.get('x-trace-id'));
  } finally {
    await program.kill();
  }
});

test('no trace holds a key, in any part of a request', async () => {
  let exported = '';
  const collector = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => {
      exported += chunk.toString('latin1');
    });
    req.on('end', () => res.end());
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const program = await startGatewayProcess({
    ...gateway.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  try {
    const { key } = await gateway.newKey();
    const headers = bearer(key);
    for (const path of [`/v1/${key.replaceAll('_', '%5F')}`, `/v1/${key}`, `/v1/vision/usage?api_key=${key}`]) {
      await exchange(program.url + path, 'GET', { headers });
    }
    await until(() => exported.includes('/v1/vision/usage') && exported.includes('/v1/vk_'));
    expect(await program.stop()).toBe(0);
    expect(exported).not.toContain(key.split('_').slice(2).join('_'));
  } finally {
    await program.kill();
    collector.close();
  }
});

test('a stop lets running requests finish and ends with exit code 0', async () => {
  const program = await startGatewayProcess(gateway.env);
  const { key } = await gateway.newKey();
  let release: () => void = () => undefined;
  gateway.upstream.answer = (_req, res) => {
    release = () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"late":true}');
  };
  gateway.upstream.seen.length = 0;
  const running = exchange(`${program.url}/v1/vision/usage`, 'GET', { headers: bearer(key) });
  await until(() => gateway.upstream.seen.length === 1);
  const stopped = program.stop();
  await until(async () => {
    const attempt = await exchange(`${program.url}/api/op/v1/scenes`).catch(() => 'closed');
    return attempt === 'closed';
  });
  release();
  expect((await running).text).toBe('{"late":true}');
  expect(await stopped).toBe(0);
});
