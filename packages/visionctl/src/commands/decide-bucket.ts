import { z } from 'zod';
import type { CommandContext, Output } from '../command.ts';
import { facts } from '../table.ts';

const decided = z.object({ service: z.string(), decision: z.string() });

/** The parts that commands share which decide about the database of a service and the bucket. */
export const decisionArgs = [
  { name: 'service', summary: 'service that owns the database', choices: ['tasks', 'images', 'results'] },
];
export const decisionOptions = {
  reason: { value: 'text', summary: 'why, for the audit log', required: true as const },
};

export async function decideBucket(
  { admin, args, options }: CommandContext,
  decision: 'resume' | 'adopt',
): Promise<Output> {
  const json = { ...args, decision, reason: options['reason'] };
  const value = await admin.call(decided, { method: 'POST', path: '/admin/v1/bucket/decisions', json });
  return { value, text: facts(value) };
}
