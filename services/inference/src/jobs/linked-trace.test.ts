import { trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { createSparseTrace, inLinkedTrace } from './linked-trace.ts';
import { captureTrace, untraced } from '@vision/shared/telemetry/trace-context';
import type { StoredTrace } from '@vision/shared/telemetry/trace-context';

const recorded = recordSpans();
beforeEach(() => recorded.clear());
afterAll(() => recorded.stop());

const tracer = trace.getTracer('test');
const inRequest = <T>(work: (span: Span) => T): T =>
  tracer.startActiveSpan('request', (span) => {
    const result = work(span);
    span.end();
    return result;
  });
const named = (name: string) => recorded.spans().filter((span) => span.name === name);
const traceOf = (name: string) => named(name)[0]?.spanContext().traceId;
const linkedTraces = (name: string) => named(name)[0]?.links.map((link) => link.context.traceId);
const attempt = (origin: StoredTrace) => ({ origin, attributes: { 'app.job.attempt': 2 } });

test('work of days has a trace of its own, and it and the request name each other', async () => {
  const origin = inRequest(captureTrace);
  await inLinkedTrace('job attempt', attempt(origin), async () => tracer.startSpan('a step').end());
  expect(traceOf('a step')).toBe(traceOf('job attempt'));
  expect(traceOf('job attempt')).not.toBe(traceOf('request'));
  expect(linkedTraces('job attempt')).toEqual([traceOf('request')]);
  expect(traceOf('job attempt begins')).toBe(traceOf('request'));
  expect(linkedTraces('job attempt begins')).toEqual([traceOf('job attempt')]);
  expect(named('job attempt begins')[0]?.attributes).toEqual({ 'app.job.attempt': 2 });
});

test('the request can be followed into work that has not ended', async () => {
  const origin = inRequest(captureTrace);
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = inLinkedTrace('job attempt', attempt(origin), () => promise);
  expect([named('job attempt begins').length, named('job attempt').length]).toEqual([1, 0]);
  resolve();
  await work;
});

test('what a poller took up is recorded, although its polling is not', async () => {
  const origin = inRequest(captureTrace);
  await untraced(() => inLinkedTrace('job attempt', attempt(origin), async () => tracer.startSpan('a step').end()));
  expect(traceOf('a step')).toBe(traceOf('job attempt'));
  expect(linkedTraces('job attempt begins')).toEqual([traceOf('job attempt')]);
  await untraced(() => createSparseTrace('publish frames')(() => Promise.resolve()));
  expect(named('publish frames')).toHaveLength(1);
});

test('work without a stored trace has a trace without links', async () => {
  await inLinkedTrace('job attempt', attempt({ traceparent: null, tracestate: null }), () => Promise.resolve());
  expect(recorded.spans().map(({ name, links }) => [name, links])).toEqual([['job attempt', []]]);
});

test('a failure is reported by its reason, never by its message', async () => {
  const failing = () => Promise.reject(Object.assign(new Error('of rtsp://camera/key'), { reason: 'auth_failed' }));
  const origin = inRequest(captureTrace);
  await expect(inLinkedTrace('job attempt', attempt(origin), failing)).rejects.toThrow();
  const [span] = named('job attempt');
  expect([span?.attributes['error.type'], span?.status, span?.events]).toEqual(['auth_failed', { code: 2 }, []]);
});

test('of work that repeats one round in a while is recorded, in a trace of its own that links to what it is part of', async () => {
  const sparsely = createSparseTrace('publish frames');
  await inRequest(async () => {
    for (const step of ['one', 'two', 'three']) await sparsely(async () => tracer.startSpan(step).end());
  });
  expect(named('publish frames')).toHaveLength(1);
  expect([named('one').length, named('two').length, named('three').length]).toEqual([1, 0, 0]);
  expect(traceOf('one')).toBe(traceOf('publish frames'));
  expect(traceOf('one')).not.toBe(traceOf('request'));
  expect(linkedTraces('publish frames')).toEqual([traceOf('request')]);
});
