import { deadLetterKeepers, listDeadLetters, replayDeadLetters, showDeadLetter } from '@vision/contracts/dead-letters';
import type { DeadLetterSummary, ShownDeadLetter, TopicName } from '@vision/contracts/dead-letters';
import { topics } from '@vision/contracts/topics';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { findDeadLetter, listDlq, replayDlq, shownText } from '../dlq.ts';
import type { DeadLetter, WholeDeadLetter } from '../dlq.ts';
import { IDLE_MS } from '../dlq-records.ts';
import { MAX_SHOWN, hideSecrets } from '../hide-secrets.ts';
import type { KafkaClient } from '../kafka.ts';

type Keeper = (typeof deadLetterKeepers)[TopicName];

/** Routes to the dead letters of a service; operations are named after `what`. */
export function deadLetterRoutes(
  service: Keeper,
  what: 'Task' | 'Image' | 'Result',
  { kafka }: { kafka: KafkaClient },
): Route[] {
  const topicOf = (name: TopicName) => {
    if (deadLetterKeepers[name] === service) return topics[name];
    throw fail.notFound(`Another service answers for the dead letters of ${name}.`, 'topic_not_kept');
  };
  const list = route(
    {
      ...listDeadLetters,
      operation: `list${what}DeadLetters`,
      summary: 'Returns the newest dead letters',
      audience: 'internal',
      responses: { 200: { description: 'Oldest first', schema: listDeadLetters.reply } },
    },
    async ({ params, query }) => {
      const letters = await listDlq(kafka, topicOf(params.topic), query.limit);
      return { status: 200, body: { items: letters.map((letter) => toSummary(params.topic, letter)) } };
    },
  );
  const show = route(
    {
      ...showDeadLetter,
      operation: `show${what}DeadLetter`,
      summary: 'Returns one dead letter in full',
      audience: 'internal',
      responses: { 200: { description: 'The record', schema: showDeadLetter.reply } },
      refusalExamples: () => [deadLetterUnknown()],
    },
    async ({ params }) => {
      const letter = await findDeadLetter(kafka, topicOf(params.topic), params.letter);
      if (!letter) throw deadLetterUnknown();
      return { status: 200, body: toShown(params.topic, letter) };
    },
  );
  const replay = route(
    {
      ...replayDeadLetters,
      operation: `replay${what}DeadLetters`,
      summary: 'Publishes dead letters to their topic again',
      audience: 'internal',
      responses: { 200: { description: 'Number of replayed records', schema: replayDeadLetters.reply } },
    },
    async ({ params, body: { limit } }) => {
      const replayed = await replayDlq(kafka, topicOf(params.topic), { limit, idleMs: IDLE_MS });
      return { status: 200, body: { replayed, is_done: replayed < limit } };
    },
  );
  return [list, show, replay];
}

export const deadLetterUnknown = () => fail.notFound('There is no such dead letter.', 'dead_letter_not_found');

function toSummary(topic: TopicName, letter: DeadLetter): DeadLetterSummary {
  const { partition, offset, at, type, key, eventId, group, reason, detail } = letter;
  return {
    topic,
    partition,
    offset: Number(offset),
    at,
    type,
    key,
    event_id: eventId,
    group,
    reason,
    detail: detail === undefined ? undefined : hideSecrets(detail),
  };
}

function toShown(topic: TopicName, letter: WholeDeadLetter): ShownDeadLetter {
  const payload = shownText(letter.payload);
  const bytes = letter.omittedBytes ?? letter.payload.length;
  return {
    ...toSummary(topic, letter),
    from_partition: numberOf(letter.from.partition),
    from_offset: numberOf(letter.from.offset),
    headers: shownHeaders(letter.headers),
    payload: hideSecrets(payload),
    payload_bytes: bytes,
    is_cut: payload.length > MAX_SHOWN || letter.omittedBytes !== undefined,
  };
}

/** Each value by itself, as a list of all of them may be long enough to be cut. */
function shownHeaders(headers: Record<string, string>): Record<string, string> {
  const shown = Object.entries(headers).map(
    ([name, value]) => JSON.parse(hideSecrets(JSON.stringify({ [name]: value.slice(0, MAX_HEADER) }))) as object,
  );
  return Object.assign({}, ...shown) as Record<string, string>;
}

const MAX_HEADER = 2_000;

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
