import { z } from 'zod';
import { defaultLimits, subjectLimits } from '@vision/contracts/limits';
import type { SubjectLimits } from '@vision/contracts/limits';

/** Limits that an operator set for a subject; all others are the defaults. */
export type LimitOverrides = Partial<SubjectLimits>;

/** A change by the operator: a number sets, null resets to the default, an absent field stays. */
export const limitsChange = z
  .strictObject(
    Object.fromEntries(
      Object.entries(subjectLimits.shape).map(([name, bound]) => [name, bound.unwrap().nullable().optional()]),
    ) as { [K in keyof SubjectLimits]: z.ZodOptional<z.ZodNullable<z.ZodNumber>> },
  )
  .meta({ id: 'LimitsChange' });
export type LimitsChange = z.infer<typeof limitsChange>;

/** Limits in force for a subject with these overrides. */
export function effectiveLimits(overrides: LimitOverrides): SubjectLimits {
  return { ...defaultLimits, ...overrides };
}

/** The overrides after a change. */
export function changeLimits(overrides: LimitOverrides, change: LimitsChange): LimitOverrides {
  const next: Record<string, number> = { ...overrides };
  for (const [name, value] of Object.entries(change)) {
    if (typeof value === 'number') next[name] = value;
    if (value === null) Reflect.deleteProperty(next, name);
  }
  return next;
}
