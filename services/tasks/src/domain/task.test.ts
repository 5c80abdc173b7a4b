import { expect, test } from '@jest/globals';
import { after, isEnded, isPublic } from './task.ts';
import type { Move, Status } from './task.ts';

const statuses: Status[] = [
  'draft',
  'admitted',
  'undoing',
  'submitting',
  'resolving',
  'running',
  'stopping',
  'stopped',
  'succeeded',
  'failed',
  'refunded',
];
const moves: Move[] = [
  'admit',
  'give_up',
  'submit',
  'take_back',
  'accept',
  'refuse',
  'lose_track',
  'find',
  'verify_created',
  'verify_not_created',
  'stop',
  'end_stopped',
  'end_succeeded',
  'end_failed',
  'vanish',
];

test('the moves that callers can see are exactly those of the contract', () => {
  const visible = statuses.flatMap((from) =>
    isPublic(from)
      ? moves.flatMap((move) => [after(move, from)].flatMap((to) => (to && isPublic(to) ? [`${from} → ${to}`] : [])))
      : [],
  );
  expect([...new Set(visible)].sort()).toEqual(
    [
      'submitting → running',
      'submitting → resolving',
      'submitting → refunded',
      'resolving → running',
      'resolving → refunded',
      'running → stopping',
      'running → stopped',
      'running → succeeded',
      'running → failed',
      'stopping → stopped',
      'stopping → succeeded',
      'stopping → failed',
    ].sort(),
  );
});

test('nothing leaves an ended state, and nothing comes back from undoing', () => {
  for (const from of [...statuses.filter(isEnded), 'undoing' as const]) {
    for (const move of moves) expect(after(move, from)).toBeUndefined();
  }
});

test('a task in resolving is refunded by an operator alone', () => {
  expect(moves.filter((move) => after(move, 'resolving') === 'refunded')).toEqual(['verify_not_created']);
});

test('no move leads back to an earlier stage', () => {
  const stage: Record<Status, number> = {
    draft: 0,
    admitted: 1,
    submitting: 2,
    resolving: 3,
    running: 4,
    stopping: 5,
    stopped: 6,
    succeeded: 6,
    failed: 6,
    refunded: 6,
    undoing: 6,
  };
  for (const from of statuses) {
    for (const move of moves)
      expect(stage[after(move, from) ?? 'stopped']).toBeGreaterThan(
        isEnded(from) || from === 'undoing' ? 5 : stage[from],
      );
  }
});
