import { expect, test } from '@jest/globals';
import { toZipkin } from './to-zipkin.ts';

const viewer = 'http://127.0.0.1:9411/zipkin';
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'inference detect',
  startTimeUnixNano: '1700000000000001000',
  endTimeUnixNano: '1700000000500001000',
};
const translated = (more: object) => {
  const resource = { attributes: [text('service.name', 'images')] };
  const [found] = toZipkin({ resourceSpans: [{ resource, scopeSpans: [{ spans: [{ ...span, ...more }] }] }] }, viewer);
  return found;
};

test('a span keeps its ids, its times to the microsecond, its kind and its parent', () => {
  expect(translated({ kind: 3, parentSpanId: '00f067aa0ba902b7' })).toEqual({
    traceId: span.traceId,
    id: span.spanId,
    parentId: '00f067aa0ba902b7',
    name: 'inference detect',
    kind: 'CLIENT',
    timestamp: 1_700_000_000_000_001,
    duration: 500_000,
    localEndpoint: { serviceName: 'images' },
    annotations: [],
    tags: {},
  });
});

test('attributes of every type become tags, and the upstream is whom it talks to', () => {
  const attributes = [
    text('app.upstream.name', 'inference'),
    { key: 'app.timeout.limit_ms', value: { intValue: 20_000 } },
    { key: 'app.replayed', value: { boolValue: false } },
    { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: 2 }] } } },
  ];
  expect(translated({ attributes })).toMatchObject({
    remoteEndpoint: { serviceName: 'inference' },
    tags: { 'app.timeout.limit_ms': '20000', 'app.replayed': 'false', list: 'a, 2' },
  });
});

test('a link becomes a tag with the address of the trace that it leads to', () => {
  const links = [{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }];
  expect(translated({ links })?.tags).toEqual({ 'link.1': `${viewer}/traces/4bf92f3577b34da6a3ce929d0e0e4736` });
});

test('an event keeps its attributes', () => {
  const events = [
    { name: 'retry', timeUnixNano: '1700000000100000000', attributes: [text('reason', 'connect_timeout')] },
    { name: 'gave up', timeUnixNano: '1700000000200000000' },
  ];
  expect(translated({ events })?.annotations).toEqual([
    { timestamp: 1_700_000_000_100_000, value: 'retry {"reason":"connect_timeout"}' },
    { timestamp: 1_700_000_000_200_000, value: 'gave up' },
  ]);
});

test('what failed is drawn red with the word of its kind, and nothing else is', () => {
  const attributes = [text('error.type', 'headers_timeout')];
  expect(translated({ status: { code: 2 }, attributes })?.tags).toMatchObject({ error: 'headers_timeout' });
  expect(translated({ status: { code: 2, message: 'broken' } })?.tags).toEqual({ error: 'broken' });
  expect(translated({ status: { code: 0 }, attributes })?.tags).not.toHaveProperty('error');
});
