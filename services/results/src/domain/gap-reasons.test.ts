import { expect, test } from '@jest/globals';
import { explainGaps } from './gap-reasons.ts';
import type { SourceFacts, SourceState } from './gap-reasons.ts';

/** States as `second state` or `second state attempt`, with a reason after a colon. */
const states = (...texts: string[]): SourceState[] =>
  texts.map((text, index) => {
    const [facts = '', reason = null] = text.split(':');
    const [second, state = '', attempt = '1'] = facts.split(' ');
    return { attempt: Number(attempt), n: index + 1, at_ms: 1000 * Number(second), state, reason };
  });

const explained = (gap: [number, number], listed: SourceState[], facts: Partial<SourceFacts> = {}) =>
  explainGaps([{ fromMs: 1000 * gap[0], toMs: 1000 * gap[1] }], listed, {
    kind: 'stream',
    isUnstarted: false,
    ...facts,
  })
    .map(({ fromMs, toMs, reason }) => `${fromMs / 1000}-${toMs / 1000} ${reason}`)
    .join(', ');

test.each([
  ['a camera that was cut', ['0 streaming', '11 reconnecting:connection_failed', '20 streaming'], '10-21 source_away'],
  ['a camera that froze', ['0 streaming', '9 stalled', '20 streaming'], '10-21 source_silent'],
  ['a busy worker', ['0 streaming', '10 blocked', '20 streaming'], '10-21 overload'],
  ['a worker that died', ['0 streaming', '15 connecting 2', '20 streaming 2'], '10-21 worker_lost'],
  ['a worker whose clock is behind', ['0 streaming', '12 stalled', '5 streaming 2'], '10-21 source_silent'],
  [
    'a worker that died while the camera was unavailable',
    ['0 streaming', '10 reconnecting', '15 connecting 2:timeout', '20 streaming 2'],
    '10-21 source_away',
  ],
  [
    'a camera that froze and then left',
    ['0 streaming', '9 stalled', '14 reconnecting', '20 streaming'],
    '10-14 source_silent, 14-21 source_away',
  ],
  [
    'a camera that came back for a moment',
    ['0 streaming', '11 reconnecting', '13 streaming', '14 reconnecting'],
    '10-21 source_away',
  ],
  ['a task that waited for a worker', ['15 connecting', '18 streaming'], '10-21 not_started'],
  ['a camera that did not answer at first', ['12 connecting:timeout'], '10-12 not_started, 12-21 source_away'],
  [
    'a camera that changed its state twice at one time',
    ['0 streaming', '9 stalled', '14 reconnecting', '14 stalled', '20 streaming'],
    '10-21 source_silent',
  ],
  ['a source that streamed all the time', ['0 streaming'], '10-21 unknown'],
  ['a backend that reports nothing', [], '10-21 unknown'],
])('%s', (_, listed, expected) => {
  expect(explained([10, 21], states(...listed))).toBe(expected);
});

test('a task that never ran was not started, and a video is silent where it has no frames', () => {
  expect(explained([10, 21], [], { isUnstarted: true })).toBe('10-21 not_started');
  expect(explained([10, 21], [], { kind: 'upload' })).toBe('10-21 source_silent');
});
