import type { StreamUrl } from '@vision/streams/stream-url';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { afterAll, expect, test } from '@jest/globals';
import { probeStream } from './probe-stream.ts';

const recorded = recordSpans();
afterAll(() => recorded.stop());

test('a trace shows the delay of the answer for an unreachable stream', async () => {
  const deps = {
    probe: async () => ({ outcome: 'unreachable', fault: 'connect_failed' }),
    probeLimits: { run: (_subject: string, work: () => Promise<unknown>) => work() },
    signals: { streamUnreachable: () => undefined },
    settings: { probeTotalMs: 100 },
  } as unknown as Parameters<typeof probeStream>[0];
  const task = { taskId: 'task', subject: 'subject' } as Parameters<typeof probeStream>[1];
  const url = { scheme: 'rtsp', label: 'rtsp://127.0.0.1' } as StreamUrl;
  const probing = recorded.inRequest(() => probeStream(deps, task, url));
  await expect(probing).rejects.toMatchObject({ reason: 'stream_unreachable' });
  const [held, request] = recorded.spans();
  expect([held?.name, held?.parentSpanContext?.spanId]).toEqual([
    'hold the answer back',
    request?.spanContext().spanId,
  ]);
});
