import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf } from '../../scripts/release/record.ts';
import type { RunRecord } from '../../scripts/release/record.ts';
import type { Attack, AttackGroup, Outcome } from './attack.ts';

/** What docs/security.md shows of a run. */
export interface AttackRun {
  /** Which code was attacked. */
  record?: RunRecord;
  groups: { title: string; wanted: string; attacks: ReportedAttack[] }[];
}

export interface ReportedAttack {
  name: string;
  seen: string;
  /** Whether it was what had to be seen, in time, at the charge of the table, and with nothing inner reached. */
  held: boolean;
  /** Null when nothing inner was named. */
  innerHits: number | null;
  withinMs: number;
}

export const lastRunFile = join(import.meta.dirname, 'last-run.json');

export function reportOf(groups: readonly AttackGroup[], outcomeOf: (attack: Attack) => Outcome): AttackRun {
  return {
    groups: groups.map(({ title, wanted, attacks, withinMs: usualMs }) => ({
      title,
      wanted,
      attacks: attacks.map((attack) => {
        const { seen, charged, innerHits, ms } = outcomeOf(attack);
        const withinMs = attack.withinMs ?? usualMs;
        const held =
          seen === attack.expected && charged === (attack.charged ?? 0) && (innerHits ?? 0) === 0 && ms < withinMs;
        return { name: attack.name, seen, held, innerHits: innerHits ?? null, withinMs };
      }),
    })),
  };
}

export function writeRun(run: AttackRun): void {
  const record = recordOf('attacks', join(import.meta.dirname, '../..'));
  writeFileSync(lastRunFile, `${JSON.stringify({ record, ...run }, undefined, 1)}\n`);
}
