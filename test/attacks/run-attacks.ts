import { Caller } from '../support/system.ts';
import type { Attack, AttackGroup, Outcome, Target } from './attack.ts';
import { openInner } from './inner.ts';
import type { Inner } from './inner.ts';

/**
 * Tries all attacks: patient groups beside everything else, the others one after the other, so that a time bound means
 * what it says. Each promise is there from the start, so that whoever reports can wait for one attack at a time.
 */
export function runAttacks(groups: readonly AttackGroup[]): Map<Attack, Promise<Outcome>> {
  const outcomes = new Map<Attack, PromiseWithResolvers<Outcome>>();
  for (const attack of groups.flatMap(({ attacks }) => attacks)) outcomes.set(attack, Promise.withResolvers());
  const runGroup = async ({ attacks, atOnce }: AttackGroup) => {
    const queue = [...attacks];
    const lane = async () => {
      for (let attack = queue.shift(); attack; attack = queue.shift()) {
        outcomes.get(attack)?.resolve(await outcomeOf(attack));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  };
  const runInTurn = async () => {
    for (const group of groups.filter(({ isPatient }) => !isPatient)) await runGroup(group);
  };
  void Promise.all([runInTurn(), ...groups.filter(({ isPatient }) => isPatient).map(runGroup)]);
  return new Map([...outcomes].map(([attack, { promise }]) => [attack, promise]));
}

async function outcomeOf(attack: Attack): Promise<Outcome> {
  const closing: (() => unknown)[] = [];
  const callers: Caller[] = [];
  const inners: Inner[] = [];
  let preparedMs = 0;
  const target: Target = {
    caller: async (limits = {}) => {
      const caller = await Caller.create(limits);
      callers.push(caller);
      return caller;
    },
    inner: async (port) => {
      const inner = await openInner(port);
      inners.push(inner);
      closing.push(inner.close);
      return inner;
    },
    prepared: async (work) => {
      const from = performance.now();
      const value = await work();
      preparedMs += performance.now() - from;
      return value;
    },
    atEnd: (close) => void closing.push(close),
  };
  const from = performance.now();
  const seen = await attack.attempt(target).catch((error: unknown) => failureOf(error));
  const ms = performance.now() - from - preparedMs;
  while (closing.length > 0) await closing.pop()?.();
  const charged = await chargedTo(callers).catch(() => Number.NaN);
  const innerHits = inners.length === 0 ? undefined : inners.reduce((sum, { hits }) => sum + hits(), 0);
  return { seen, innerHits, charged, ms };
}

async function chargedTo(callers: readonly Caller[]): Promise<number> {
  const used = await Promise.all(callers.flatMap((caller) => [caller.used('video'), caller.used('image')]));
  return used.reduce((sum, one) => sum + one, 0);
}

function failureOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `failed: ${String(error)}${cause}`;
}
