import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { fail } from '@vision/contracts/errors';
import { headersOfError, toProblem } from '../http/problem.ts';
import { readApiContract } from './api-contract.ts';
import type { Exchange } from './api-contract-document.ts';

const contract = await readApiContract(join(import.meta.dirname, '../../../../docs/openapi/public.json'));
const ids = { requestId: '5f0c2d1e-6a0b-4a57-9d2c-0d4a3c6f2b11', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };
const named = { 'X-Request-Id': ids.requestId, 'X-Trace-Id': ids.traceId };
const usage = { limit: 5, used: 0, remaining: 5, resets_at: '2026-03-16T00:00:00+08:00' };
const scene = {
  scene_code: 'ship',
  name: 'Ships',
  description: 'Ships and boats',
  enabled: true,
  labels: ['boat'],
  lower_bound: 0.3,
  default_min_score: 0.8,
};

const answer = (body: unknown, more: Partial<Exchange> = {}): Exchange => ({
  method: 'GET',
  path: '/v1/vision/usage',
  status: 200,
  headers: new Headers({ ...named, 'Content-Type': 'application/json; charset=utf-8' }),
  text: JSON.stringify(body),
  ...more,
});

function refused(error: ReturnType<typeof fail.notFound>, more: Partial<Exchange> = {}): Exchange {
  const problem = toProblem(error, ids);
  const headers = new Headers({ ...named, ...headersOfError(error), 'Content-Type': 'application/problem+json' });
  return answer(problem, { status: problem.status, headers, ...more });
}

test('an answer and a refusal that are as documented have no fault', () => {
  expect(contract.faults(answer({ video: usage, image: usage }))).toEqual([]);
  expect(contract.faults(refused(fail.rateLimited('rate_exceeded', 1, { limit: 'requests' })))).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['a further field', { video: usage, image: usage, audio: usage }, 'the body has the property "audio"'],
  ['a further field deep inside', { video: { ...usage, left: 5 }, image: usage }, '/video has the property "left"'],
  ['a wrong type', { video: { ...usage, used: '0' }, image: usage }, '/video/used must be integer'],
  [
    'a date that is none',
    { video: { ...usage, resets_at: 'soon' }, image: usage },
    '/video/resets_at must match format',
  ],
  ['a missing field', { video: usage }, "the body must have required property 'image'"],
])('%s in an answer is a fault', (_name, body, fault) => {
  expect(contract.faults(answer(body)).join('\n')).toContain(fault);
});

test('a further field in a list and an unknown value of an enumeration are faults', () => {
  const scenes = { scenes: [{ ...scene, detector: 'nanodet' }] };
  expect(contract.faults(answer(scenes, { path: '/api/op/v1/scenes' })).join()).toContain('/scenes/0 has the property');
  const problem = { ...toProblem(fail.internal(), ids), code: 'OP-NEW' };
  const headers = new Headers({ ...named, 'Content-Type': 'application/problem+json' });
  expect(contract.faults(answer(problem, { status: 500, headers })).join()).toContain('/code must be equal to one of');
});

test('a status, a content type and a header that are not documented are faults', () => {
  const body = { video: usage, image: usage };
  expect(contract.faults(answer(body, { status: 202 })).join()).toContain('the status is not documented');
  const html = new Headers({ ...named, 'Content-Type': 'text/html' });
  expect(contract.faults(answer(body, { headers: html })).join()).toContain('the content type "text/html"');
  const more = new Headers({ ...named, 'Content-Type': 'application/json', 'X-Powered-By': 'Express' });
  expect(contract.faults(answer(body, { headers: more })).join()).toContain('the header x-powered-by');
});

test('an answer without its ids, and one with a Retry-After that is no number, are faults', () => {
  const bare = new Headers({ 'Content-Type': 'application/json' });
  const faults = contract.faults(answer({ video: usage, image: usage }, { headers: bare }));
  expect(faults.join()).toContain('the header x-trace-id is missing');
  const exchange = refused(fail.maintenance(), { method: 'POST', path: '/v1/vision/tasks' });
  exchange.headers.set('Retry-After', 'Mon, 16 Mar 2026 00:00:00 GMT');
  expect(contract.faults(exchange).join()).toContain('the header retry-after must be integer');
});

test('an unknown address may be 404 and an unknown method 405, and nothing else', () => {
  expect(contract.faults(refused(fail.notFound(), { path: '/v2/nothing' }))).toEqual([]);
  expect(contract.faults(refused(fail.methodNotAllowed(['GET']), { method: 'PUT' }))).toEqual([]);
  expect(contract.faults(answer({}, { path: '/v2/nothing' })).join()).toContain('the status is not documented');
});

test('a request that is accepted although the document forbids it is a fault', () => {
  const page = { items: [], next_cursor: '' };
  const list = (query: string) => contract.faults(answer(page, { path: `/v1/vision/tasks?${query}` }));
  expect(list('limit=500')).toEqual([]);
  expect(list('limit=501').join()).toContain('was accepted although limit must be <= 500');
});
