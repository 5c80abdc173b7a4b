import { expect, test } from '@jest/globals';
import { after, allMoves } from './moves.ts';
import { hiddenStatuses, isEnded } from './task.ts';
import type { Status } from './task.ts';

const isPublic = (status: Status) => !hiddenStatuses.includes(status);
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
test('the public moves are exactly those of the contract', () => {
  const visible = statuses.flatMap((from) =>
    isPublic(from)
      ? allMoves.flatMap((move) => [after(move, from)].flatMap((to) => (to && isPublic(to) ? [`${from} → ${to}`] : [])))
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

test('no move leaves an ended state or `undoing`', () => {
  for (const from of [...statuses.filter(isEnded), 'undoing' as const]) {
    for (const move of allMoves) expect(after(move, from)).toBeUndefined();
  }
});

test('only an operator can refund a task in resolving', () => {
  expect(allMoves.filter((move) => after(move, 'resolving') === 'refunded')).toEqual(['verify_not_created']);
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
    for (const move of allMoves)
      expect(stage[after(move, from) ?? 'stopped']).toBeGreaterThan(
        isEnded(from) || from === 'undoing' ? 5 : stage[from],
      );
  }
});
