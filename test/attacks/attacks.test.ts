import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Attack, Outcome } from './attack.ts';
import { groups } from './groups.ts';
import { names } from './name-server.ts';
import { runAttacks } from './run-attacks.ts';

let outcomes: Map<Attack, Promise<Outcome>>;

beforeAll(async () => {
  await names.start();
  outcomes = runAttacks(groups);
});

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
    180_000,
  );
});

afterAll(() => names.stop());
