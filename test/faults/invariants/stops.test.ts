import { expect, test } from '@jest/globals';
import type { Strike } from '../nemesis/nemesis.ts';
import type { State } from '../state.ts';
import { stopInvariants } from './stops.ts';

const ASKED = 100_000;
const [stops] = stopInvariants;

const strike = (name: string, hold: string, to: number): Strike => ({
  name,
  holds: [hold],
  from: to - 3_000,
  to,
  notes: [],
});

/** What is said of a stop of a scripted job that took 11 s. */
const breachesWith = (...strikes: Strike[]) =>
  stops?.check({
    stores: {
      query: () => Promise.resolve([{ task_id: 'a', asked: new Date(ASKED), ended: new Date(ASKED + 11_000) }]),
    },
    strikes,
    world: { backends: { isReal: () => false } },
  } as unknown as State);

test('a stop may take long while the broker is away and until its groups are together again', async () => {
  expect(await breachesWith(strike('kafka: disk full', 'store kafka', ASKED - 14_000))).toEqual([]);
  expect(await breachesWith(strike('kafka: disk full', 'store kafka', ASKED - 16_000))).toHaveLength(1);
  expect(await breachesWith(strike('redis: frozen', 'store redis', ASKED + 2_000))).toHaveLength(1);
});

test('one process of tasks that hangs is no reason, two faults that may hit both are', async () => {
  const frozen = strike('tasks-1: frozen', 'process tasks-1', ASKED + 2_000);
  expect(await breachesWith(frozen)).toHaveLength(1);
  const restarted = strike('all services: restarted one process after the other', 'restart', ASKED + 5_000);
  expect(await breachesWith(frozen, restarted)).toEqual([]);
});
