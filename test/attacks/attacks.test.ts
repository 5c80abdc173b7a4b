import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { example, form, jpeg, Caller } from '../support/system.ts';
import { errorLines, logMarks, notReady, waitingSlots } from './aftermath.ts';
import type { Attack, Outcome } from './attack.ts';
import { groups } from './groups.ts';
import { names } from './name-server.ts';
import { lastRunFile, reportOf, writeRun } from './report.ts';
import type { AttackRun } from './report.ts';
import { runAttacks } from './run-attacks.ts';

/** Ends what hangs: each attack has a time of its own, from when it was prepared. */
const PATIENCE_MS = 1_200_000;

let outcomes: Map<Attack, Promise<Outcome>>;
let marks: ReturnType<typeof logMarks>;

beforeAll(async () => {
  marks = logMarks();
  await names.start();
  outcomes = runAttacks(groups);
});
afterAll(() => names.stop());

describe.each(groups)('$title', ({ attacks, withinMs: usualMs }) => {
  test.each(attacks)(
    '$name',
    async (attack) => {
      const { expected, withinMs = usualMs, charged = 0 } = attack;
      const outcome = await outcomes.get(attack);
      expect(outcome).toMatchObject({ seen: expected, charged });
      expect(outcome?.innerHits ?? 0).toBe(0);
      expect(outcome?.ms).toBeLessThan(withinMs);
    },
    PATIENCE_MS,
  );
});

describe('Afterwards', () => {
  beforeAll(async () => Promise.all(outcomes.values()), PATIENCE_MS);

  test('every service is ready, and none has something that an operator must act on', async () => {
    expect(await notReady()).toEqual([]);
    expect(errorLines(marks)).toEqual([]);
  });

  test('no request is counted as in flight', async () => {
    expect(await waitingSlots()).toBe(0);
  });

  test('an honest picture is detected', async () => {
    const answer = await (await Caller.create()).detect(form(jpeg(await example('street.jpg'))));
    expect([answer.status, answer.body['status']]).toEqual([201, 'succeeded']);
  });

  test('the report names every attack; REPORT=1 writes it anew', async () => {
    const settled = new Map(
      await Promise.all([...outcomes].map(async ([attack, one]) => [attack, await one] as const)),
    );
    const run = reportOf(groups, (attack) => settled.get(attack) as Outcome);
    if (process.env['REPORT']) writeRun(run);
    const last = existsSync(lastRunFile)
      ? (JSON.parse(readFileSync(lastRunFile, 'utf8')) as AttackRun)
      : { groups: [] };
    const namesOf = ({ groups: all }: AttackRun) =>
      all.flatMap(({ title, attacks }) => attacks.map(({ name }) => `${title}: ${name}`));
    expect(namesOf(last)).toEqual(namesOf(run));
  });
});
