import type { SlotKind } from '@vision/contracts/public-operations';
import type { Response } from 'express';
import { expect, test } from '@jest/globals';
import type { Caller } from '@vision/shared/http/caller';
import { inSlot } from './in-slot.ts';
import type { SlotDeps } from './in-slot.ts';

/** Slots that count how many are in use; `fault` names the failing step. */
function createSlots(
  fault: 'budget' | 'signals' | 'headers' | 'work' | 'upload' | undefined,
  waitMs = 0,
  kind: SlotKind = 'image_calls',
) {
  let inUse = 0;
  const failAt = (step: typeof fault) => {
    if (fault === step) throw new Error(`fault of ${step}`);
  };
  const deps: SlotDeps = {
    slots: {
      take: () => {
        inUse += 1;
        return Promise.resolve({ remaining: 0, release: () => void (inUse -= 1) });
      },
      start: () => undefined,
      stop: () => Promise.resolve(),
    },
    processorBudgets: {
      waitFor: () => (fault === 'budget' ? Promise.reject(new Error('fault of budget')) : Promise.resolve(waitMs)),
      charge: () => Promise.resolve(),
    },
    signals: {
      limitDecided: () => failAt('signals'),
      uploadBegan: () => {
        failAt('upload');
        return () => undefined;
      },
    },
  };
  // Only what setting the RateLimit headers needs of a response.
  const res = { locals: {}, setHeader: () => failAt('headers') } as unknown as Response;
  const caller = { subject: 'someone', limits: { [kind]: 1 } } as unknown as Caller;
  const run = () =>
    inSlot(deps, { kind, caller, res }, () => {
      expect(inUse).toBe(1);
      failAt('work');
      return Promise.resolve('reply');
    });
  return { run, inUse: () => inUse };
}

test('holds a slot during the work and releases it afterwards', async () => {
  const slots = createSlots(undefined);
  await expect(slots.run()).resolves.toBe('reply');
  expect(slots.inUse()).toBe(0);
});

test.each(['budget', 'signals', 'headers', 'upload', 'work'] as const)(
  'releases the slot when a step fails: %s',
  async (step) => {
    const slots = createSlots(step);
    await expect(slots.run()).rejects.toThrow(`fault of ${step}`);
    expect(slots.inUse()).toBe(0);
  },
);

test('releases the slot of a subject whose processor budget is overdrawn', async () => {
  const slots = createSlots(undefined, 1_500);
  await expect(slots.run()).rejects.toMatchObject({ reason: 'processor_time_exceeded' });
  expect(slots.inUse()).toBe(0);
});

test.each<[SlotKind, boolean]>([
  ['image_calls', true],
  ['video_uploads', true],
  ['stream_probes', true],
  ['video_downloads', false],
  ['event_streams', false],
])('refuses %s of a subject whose processor budget is overdrawn: %s', async (kind, isRefused) => {
  const outcome = await createSlots(undefined, 1_500, kind)
    .run()
    .catch((error: unknown) => (error as { reason: string }).reason);
  expect(outcome).toBe(isRefused ? 'processor_time_exceeded' : 'reply');
});
