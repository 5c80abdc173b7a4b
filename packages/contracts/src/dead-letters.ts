import { z } from 'zod';
import { defineQuestion } from './question.ts';
import type { topics } from './topics.ts';

/** Short names of the topics whose records may become dead letters. */
export const topicNames = [
  'tasks',
  'images',
  'results',
  'frames',
  'jobs',
  'rules',
  'alarms',
] as const satisfies (keyof typeof topics)[];
export type TopicName = (typeof topicNames)[number];

/**
 * The service that answers for the dead letters of a topic: the one that publishes it, and so may publish it again.
 * Frames and facts about jobs come from the backend, which need not be ours; results reads them. It answers for rules,
 * too, as it alone reads them.
 */
export const deadLetterKeepers = {
  tasks: 'tasks',
  images: 'images',
  results: 'results',
  frames: 'results',
  jobs: 'results',
  rules: 'results',
  alarms: 'results',
} as const;

export const deadLetter = z
  .object({
    topic: z.string().describe('Topic of the record'),
    partition: z.int().describe('Of the dead letter topic, as offset is'),
    offset: z.int(),
    at: z.string().optional(),
    type: z.string().optional(),
    key: z.string().optional().describe('The task'),
    event_id: z.string().optional(),
    group: z.string().optional().describe('The consumers that could not handle it'),
    reason: z.string().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'DeadLetter', description: 'A dead letter: a record that no consumer could handle' });

export const shownDeadLetter = deadLetter
  .extend({
    from_partition: z.int().optional().describe('Original position of the record, in the form of from_offset'),
    from_offset: z.int().optional(),
    headers: z.record(z.string(), z.string()).describe('As its publisher wrote them'),
    payload: z.string().describe('The start of it as text; of a binary event, `base64:` and its bytes'),
    payload_bytes: z.int().min(0),
    is_cut: z.boolean().describe('The payload is longer than what is shown'),
  })
  .meta({ id: 'ShownDeadLetter', description: 'A dead letter in full; values that look secret are hidden' });

export const replayedDeadLetters = z
  .object({
    replayed: z.int().min(0).describe('Records that were published to their topic again'),
    is_done: z.boolean().describe('True if no record is left to replay'),
  })
  .meta({ id: 'ReplayedDeadLetters' });

export const replayRequest = z.object({
  limit: z.int().min(1).max(1000).default(500).describe('Records in one call'),
});

const topicPath = z.object({ topic: z.enum(topicNames) });

/** The newest dead letters of a topic. */
export const listDeadLetters = defineQuestion({
  method: 'get',
  path: '/internal/v1/dead-letters/{topic}',
  params: topicPath,
  query: z.object({ limit: z.coerce.number<string>().int().min(1).max(1000).default(50) }),
  reply: z.object({ items: z.array(deadLetter) }).meta({ id: 'DeadLetters' }),
});

/** One of them: `newest`, an offset (`partition-offset` where there are several partitions), or the id of its event. */
export const showDeadLetter = defineQuestion({
  method: 'get',
  path: '/internal/v1/dead-letters/{topic}/records/{letter}',
  params: topicPath.extend({ letter: z.string().min(1).max(200) }),
  reply: shownDeadLetter,
  refusals: ['not_found'],
});

/** Publishes those that were not yet published again to their topic; a second call goes on after the first. */
export const replayDeadLetters = defineQuestion({
  method: 'post',
  path: '/internal/v1/dead-letters/{topic}/replay',
  params: topicPath,
  body: replayRequest,
  reply: replayedDeadLetters,
});

export type DeadLetterSummary = z.infer<typeof deadLetter>;
export type ShownDeadLetter = z.infer<typeof shownDeadLetter>;
export type ReplayedDeadLetters = z.infer<typeof replayedDeadLetters>;
