import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '../logger.ts';
import { untraced } from '../telemetry/trace-context.ts';
import { recordSpans } from '../testing/recorded-spans.ts';
import { callUpstream } from './call-upstream.ts';

const recorded = recordSpans();
beforeEach(() => recorded.clear());
afterAll(() => recorded.stop());

const lines: string[] = [];
const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });
const asked = { upstream: 'postgres', operation: 'select', isPartOfTrace: true } as const;
const twice = () =>
  callUpstream({ ...asked, operation: 'acquire' }, () => callUpstream(asked, async () => logger.info('asked')));

test('outside of a trace neither a call nor what it calls begins one', async () => {
  await twice();
  expect(recorded.spans()).toEqual([]);
});

test('lines that are written outside of a trace, or where none is wanted, name none', async () => {
  lines.length = 0;
  await twice();
  await untraced(() => callUpstream({ upstream: 'quota', operation: 'read' }, async () => logger.info('asked')));
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain('trace_id');
});

test('in a request both are in its trace', async () => {
  await recorded.inRequest(twice);
  expect(recorded.spans().map(({ name }) => name)).toEqual(['postgres select', 'postgres acquire', 'request']);
});
