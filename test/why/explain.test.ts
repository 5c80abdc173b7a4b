import { expect, test } from '@jest/globals';
import { printTree } from './print-tree.ts';
import { spansOf } from './span.ts';
import type { Span } from './span.ts';
import { treeOf } from './trace-tree.ts';
import { sentencesOf, verdictOf } from './verdict.ts';

type Given = [id: string, parentId: string | undefined, from: number, to: number, attributes?: Span['attributes']];

const spans = (...given: Given[]): Span[] =>
  given.map(([id, parentId, startMs, endMs, attributes = {}]) => {
    const [service = '', name = id] = id.split(' ');
    return { traceId: 't', id, parentId, service, name, startMs, endMs, attributes };
  });
const called = (upstream: string, outcome = 'ok', more: Span['attributes'] = {}) => ({
  'app.upstream.name': upstream,
  'app.upstream.operation': 'ask',
  'app.call.outcome': outcome,
  ...(outcome === 'ok' || outcome.startsWith('client') ? {} : { 'error.type': outcome }),
  ...more,
});
const late = called('quota', 'headers_timeout', { 'app.timeout.limit_ms': 1_000, 'app.bytes_sent': 2_500 });

const frozenQuota = spans(
  ['gateway POST', undefined, 0, 2_400, { 'http.response.status_code': 503, 'app.error.reason': 'quota_unavailable' }],
  ['gateway redis', 'gateway POST', 0, 10, called('redis')],
  ['gateway images', 'gateway POST', 10, 2_390, called('images', 'answered_5xx')],
  ['images POST', 'gateway images', 20, 2_380, { 'http.response.status_code': 503 }],
  ['images select', 'images POST', 30, 40, called('postgres')],
  ['images put', 'images POST', 50, 90, called('s3')],
  ['images one', 'images POST', 100, 1_100, late],
  ['images two', 'images POST', 1_100, 2_100, late],
  ['images later', 'images POST', 2_500, 9_000, called('s3', 'idle_timeout')],
);

test('the deepest call that failed is the answer, with its like; what began after the answer is not', () => {
  const tree = treeOf(frozenQuota);
  const verdict = verdictOf(tree);
  expect(verdict?.all.map(({ node }) => node.span.id)).toEqual(['images one', 'images two']);
  expect(verdict && sentencesOf(verdict, tree)).toEqual([
    'Which upstream:     quota (ask), asked by images',
    'Which limit:        1000 ms: headers_timeout, the answer did not begin',
    'Where was the time: 2.0 s of 2.4 s, in 2 calls',
    'What else:          3 kB sent',
  ]);
});

test('a tree shows when each span ran, points at the answer, and puts what went well on one line', () => {
  const tree = treeOf(frozenQuota);
  expect(printTree(tree, new Set(verdictOf(tree)?.all.map(({ node }) => node)))).toBe(
    `
gateway: POST              |====================|   2.4 s  503 quota_unavailable
├─ asks redis              |=                   | < 0.1 s  ok
└─ asks images: ask        |====================|   2.4 s  answered_5xx
   └─ images: POST         |====================|   2.4 s  503
      ├─ asks postgres, s3 |=                   |   0.1 s  ok
      ├─ asks quota: ask   |==========          |   1.0 s  headers_timeout (1000 ms) <== HERE
      └─ asks quota: ask   |         =========  |   1.0 s  headers_timeout (1000 ms) <== HERE`.trim(),
  );
});

test('a client that was too slow is the answer where no upstream failed, and a refusal is none', () => {
  const root: Given = ['gateway POST', undefined, 0, 3_000];
  const slow = called('tasks', 'client_slow', { 'app.timeout.limit_ms': 3_000 });
  expect(verdictOf(treeOf(spans(root, ['gateway tasks', 'gateway POST', 1, 2_999, slow])))?.call).toMatchObject({
    outcome: 'client_slow',
    limitMs: 3_000,
  });
  const refused = { ...called('tasks'), 'app.call.outcome': 'answered_4xx' };
  expect(verdictOf(treeOf(spans(root, ['gateway tasks', 'gateway POST', 1, 2_999, refused])))).toBeUndefined();
});

test('a span whose parent was never exported hangs below the request', () => {
  const tree = treeOf(spans(['gateway GET', undefined, 0, 100], ['results GET', 'lost', 10, 20]));
  expect(tree.children.map(({ span }) => span.id)).toEqual(['results GET']);
});

test('spans are read from an export by OTLP in JSON', () => {
  const span = {
    traceId: 't',
    spanId: 's',
    parentSpanId: '',
    name: 'quota ask',
    startTimeUnixNano: '1700000000000500000',
    endTimeUnixNano: '1700000001000500000',
    attributes: [{ key: 'app.timeout.limit_ms', value: { intValue: '1500' } }],
  };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'images' } }] };
  expect(spansOf({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })).toEqual([
    {
      traceId: 't',
      id: 's',
      parentId: undefined,
      service: 'images',
      name: 'quota ask',
      startMs: 1_700_000_000_000.5,
      endMs: 1_700_000_001_000.5,
      attributes: { 'app.timeout.limit_ms': 1_500 },
    },
  ]);
});
