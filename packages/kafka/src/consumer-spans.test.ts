import { trace } from '@opentelemetry/api';
import type { KafkaMessage } from 'kafkajs';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { inBatchSpan, inRecordSpan } from './consumer-spans.ts';

const recorded = recordSpans();
beforeEach(() => recorded.clear());
afterAll(() => recorded.stop());

const received = { topic: 'vision.frames.v1', partition: 3, groupId: 'results-frames' };
const sentIn = (traceId: string, flags = '01') => `00-${traceId.repeat(32)}-${traceId.repeat(16)}-${flags}`;
const record = (traceparent?: string): KafkaMessage => ({
  key: Buffer.from('task'),
  value: null,
  timestamp: '0',
  attributes: 0,
  offset: '7',
  headers: traceparent === undefined ? {} : { traceparent: Buffer.from(traceparent) },
});
const step = async () => trace.getTracer('test').startSpan('a step').end();
const named = (name: string) => recorded.spans().find((span) => span.name === name);

test('a record is handled in the trace of the one who sent it', async () => {
  await inRecordSpan(received, record(sentIn('a')), step);
  const [process, inner] = [named('process vision.frames.v1'), named('a step')];
  expect(process?.spanContext().traceId).toBe('a'.repeat(32));
  expect(process?.parentSpanContext?.spanId).toBe('a'.repeat(16));
  expect(inner?.parentSpanContext?.spanId).toBe(process?.spanContext().spanId);
  expect(process?.attributes).toMatchObject({
    'messaging.consumer.group.name': 'results-frames',
    'messaging.kafka.offset': '7',
    'messaging.kafka.message.key': 'task',
  });
});

test('a batch is handled in one span of its own that links once to each of those who sent it', async () => {
  const batch = [record(sentIn('a')), record(sentIn('a')), record(sentIn('b')), record(sentIn('c', '00')), record()];
  await inBatchSpan(received, batch, step);
  const process = named('process vision.frames.v1');
  expect(process?.links.map(({ context }) => context.traceId)).toEqual(['a'.repeat(32), 'b'.repeat(32)]);
  expect(process?.parentSpanContext).toBeUndefined();
  expect(process?.attributes['messaging.batch.message_count']).toBe(5);
  expect(named('a step')?.spanContext().traceId).toBe(process?.spanContext().traceId);
});

test('both are recorded although what hands the records over runs in no trace', async () => {
  await untraced(() => inBatchSpan(received, [record(sentIn('a'))], step));
  await untraced(() => inRecordSpan(received, record(sentIn('b')), step));
  const [batch, single] = recorded.spans().filter(({ name }) => name === 'process vision.frames.v1');
  expect(batch?.links.map(({ context }) => context.traceId)).toEqual(['a'.repeat(32)]);
  expect(single?.spanContext().traceId).toBe('b'.repeat(32));
  const steps = recorded.spans().filter(({ name }) => name === 'a step');
  expect(steps.map((span) => span.parentSpanContext?.spanId)).toEqual(
    [batch, single].map((span) => span?.spanContext().spanId),
  );
});

test('a batch of records without a trace is in no trace', async () => {
  let isHandled = false;
  await inBatchSpan(received, [record(), record(sentIn('c', '00'))], async () => {
    isHandled = true;
    await step();
  });
  expect([isHandled, recorded.spans()]).toEqual([true, []]);
});
