import { expect, test } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { createBreaker } from '@vision/shared/http/breaker';
import { createLogger } from '@vision/shared/logger';
import { consumerSignals } from './consumer-signals.ts';
import { createKafka } from './kafka.ts';

class Reader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

const reader = new Reader();
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

/** Value of a counter by its name, or undefined when it is not there. */
async function valueOf(name: string): Promise<unknown> {
  const { resourceMetrics } = await reader.collect();
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0]?.value;
}

test('alarms are there from the start with 0, so that their first increase is seen', async () => {
  createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger: createLogger('test', 'silent') });
  const signals = consumerSignals('readers');
  createBreaker({ upstream: 'inference', operation: 'submit', resetMs: 1_000 }).shutdown();
  for (const name of ['offset_resets', 'dead_letters', 'blocked', 'crashes', 'rewinds', 'gaps']) {
    expect(await valueOf(`vision.consumer.${name}`)).toBe(0);
  }
  expect(await valueOf('circuit_breaker.opened')).toBe(0);
  signals.settled('vision.frame.v1', 'dead-lettered');
  expect(await valueOf('vision.consumer.dead_letters')).toBe(1);
});

test('a position out of range is an error in the log and counted, what heals itself is a warning', async () => {
  const lines: { level: string; msg: string; topic?: string }[] = [];
  const logger = createLogger('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
  });
  const { kafka } = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger });
  kafka.logger().error('Offset out of range, resetting to default offset', { topic: 'vision.tasks.v1' });
  kafka.logger().error('Connection error');
  expect(lines).toMatchObject([
    { level: 'error', msg: 'kafka: Offset out of range, resetting to default offset', topic: 'vision.tasks.v1' },
    { level: 'warn', msg: 'kafka: Connection error' },
  ]);
  expect(await valueOf('vision.consumer.offset_resets')).toBe(1);
});
