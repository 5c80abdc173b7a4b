import {
  deadLetterKeepers,
  listDeadLetters as listQuestion,
  replayDeadLetters as replayQuestion,
  showDeadLetter as showQuestion,
} from '@vision/contracts/dead-letters';
import type {
  DeadLetterSummary,
  ReplayedDeadLetters,
  ShownDeadLetter,
  TopicName,
} from '@vision/contracts/dead-letters';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

/** The newest dead letters of a topic, from the service that owns it. */
export async function listDeadLetters(
  { owners }: Pick<Deps, 'owners'>,
  { topic, limit, signal }: { topic: TopicName; limit: number; signal: AbortSignal },
): Promise<{ items: DeadLetterSummary[] }> {
  const asking = { subject: OPERATOR, params: { topic }, query: { limit }, signal };
  return owners[deadLetterKeepers[topic]].ask(listQuestion, asking);
}

/** @throws AppError not_found when there is no such dead letter. */
export async function showDeadLetter(
  { owners }: Pick<Deps, 'owners'>,
  { topic, letter, signal }: { topic: TopicName; letter: string; signal: AbortSignal },
): Promise<ShownDeadLetter> {
  return owners[deadLetterKeepers[topic]].ask(showQuestion, { subject: OPERATOR, params: { topic, letter }, signal });
}

export interface Replay {
  topic: TopicName;
  limit: number;
  actor: string;
}

/** Publishes dead letters to their topic again; recorded in the audit log first. */
export async function replayDeadLetters(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { topic, limit, actor }: Replay,
): Promise<ReplayedDeadLetters> {
  const act = { actor, action: 'dead_letters.replay', target: topic, details: { limit } } as const;
  const asking = { subject: OPERATOR, params: { topic }, body: { limit } };
  return audited(db, act, () => owners[deadLetterKeepers[topic]].ask(replayQuestion, asking));
}
