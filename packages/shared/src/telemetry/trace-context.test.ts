import { propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { recordSpans } from '../testing/recorded-spans.ts';
import { addTraceHeaders, untraced } from './trace-context.ts';

const recorded = recordSpans();
beforeEach(() => recorded.clear());
afterAll(() => recorded.stop());

/** What a service does with the headers of a request. */
const serve = (headers: Record<string, string>) =>
  trace.getTracer('test').startSpan('served', {}, propagation.extract(ROOT_CONTEXT, headers)).end();

test('a service that polling asks records nothing of it', () => {
  const headers: Record<string, string> = {};
  untraced(() => addTraceHeaders(headers));
  serve(headers);
  expect(recorded.spans()).toEqual([]);
});

test('a service that a request asks continues its trace', async () => {
  const headers: Record<string, string> = {};
  await recorded.inRequest(async () => addTraceHeaders(headers));
  serve(headers);
  const [request, served] = recorded.spans();
  expect(served?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
});
