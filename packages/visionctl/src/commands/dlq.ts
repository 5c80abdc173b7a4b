import { topics } from '@vision/contracts/topics';
import { z } from 'zod';
import { queryOf, wholeNumber } from '../command.ts';
import type { CommandContext, CommandGroup } from '../command.ts';
import { facts, table, UNPRINTED } from '../table.ts';

const TOPICS = [...Object.keys(topics), ...Object.values(topics)];
const LISTED = ['partition', 'offset', 'at', 'type', 'key', 'group', 'reason', 'detail'];
/** Maximum records per call; the services publish them one after the other. */
const REPLAYED_AT_ONCE = 500;

const topicArgument = { name: 'topic', summary: 'topic of the records', choices: TOPICS };

// Requires only the fields used here: an older or newer gateway may return fewer or more.
const listed = z.object({ items: z.array(z.record(z.string(), z.unknown())) });
const shown = z.looseObject({
  topic: z.string(),
  reason: z.string().optional(),
  group: z.string().optional(),
  headers: z.record(z.string(), z.string()),
  payload: z.string(),
  payload_bytes: z.number(),
  is_cut: z.boolean(),
});
const replayed = z.object({ replayed: z.number(), is_done: z.boolean() });

type Shown = z.infer<typeof shown>;

export const dlqCommands: CommandGroup = {
  name: 'dlq',
  summary: 'dead letters: records that no consumer could handle',
  commands: [
    {
      name: 'list',
      args: [topicArgument],
      options: { limit: { value: 'number', summary: 'newest records per partition, 50 by default' } },
      summary: 'list dead letters',
      run: async (context) => {
        const limit = wholeNumber(context.options, 'limit', 1);
        const value = await context.admin.call(listed, { method: 'GET', path: pathOf(context) + queryOf({ limit }) });
        return { value, text: table(LISTED, value.items) };
      },
    },
    {
      name: 'show',
      args: [
        topicArgument,
        {
          name: 'record',
          summary:
            'its offset in the list (partition-offset where there are several), or the id of the event; else the newest',
          fallback: 'newest',
        },
      ],
      summary: 'show a dead letter: its reason, origin and content, and what to do',
      run: async (context) => {
        const path = `${pathOf(context)}/records/${encodeURIComponent(context.args['record'] ?? '')}`;
        const value = await context.admin.call(shown, { method: 'GET', path });
        return { value: { ...value, advice: adviceOn(value) }, text: describe(value) };
      },
    },
    {
      name: 'replay',
      args: [topicArgument],
      options: { limit: { value: 'number', summary: 'records at most' } },
      summary: 'publish dead letters to their topic again; repeats are harmless',
      run: replay,
    },
  ],
};

async function replay(context: CommandContext) {
  const most = wholeNumber(context.options, 'limit', 1) ?? Infinity;
  const topic = topicOf(context);
  let count = 0;
  let isDone = false;
  while (!isDone && count < most) {
    const json = { limit: Math.min(REPLAYED_AT_ONCE, most - count) };
    const part = await context.admin.call(replayed, { method: 'POST', path: `${pathOf(context)}/replay`, json });
    count += part.replayed;
    isDone = part.is_done;
    if (!isDone) context.progress(`${count} records`);
  }
  return { value: { topic, replayed: count }, text: `${count} records were published to ${topic} again.` };
}

/** The short name, whether that or the full one was given. */
function topicOf({ args }: CommandContext): string {
  return Object.entries(topics).find(([, full]) => full === args['topic'])?.[0] ?? args['topic'] ?? '';
}

const pathOf = (context: CommandContext) => `/admin/v1/dead-letters/${encodeURIComponent(topicOf(context))}`;

function describe(letter: Shown): string {
  const { headers, payload, payload_bytes: bytes, is_cut: isCut, ...rest } = letter;
  const cut = isCut ? `\n… ${bytes} bytes in all` : '';
  return [
    facts(rest),
    'headers',
    indented(Object.keys(headers).length === 0 ? '(none)' : facts(headers)),
    'payload (what looks secret is hidden)',
    indented(pretty(payload) + cut),
    'what to do',
    indented(adviceOn(letter)),
  ].join('\n');
}

/** Advice for an operator: where to look for the cause, and whether to publish the record again. */
function adviceOn({ reason, group = 'its consumers', topic }: Shown): string {
  const again = `visionctl dlq replay ${topic}`;
  switch (reason) {
    case 'not_an_event':
    case 'invalid_json':
      return `It is no event of ours. Find out by its headers who writes to ${topic}. A replay brings it back as it is: leave it, it goes after 30 days.`;
    case 'invalid_data':
      return `Its publisher and ${group} disagree about its form: see which of the two is of another release. Deploy one that understands it, then: ${again}`;
    case 'handler_failed':
      return `Search the log of the service of ${group} for event_id or key at that time. Repair the cause and deploy, then: ${again}`;
    case undefined:
    default:
      return `Search the log of the service of ${group} for event_id or key at that time. When the cause is gone: ${again}`;
  }
}

/** JSON on lines of its own; each line is shown without control characters. */
function pretty(payload: string): string {
  const text = parsed(payload);
  return (text === undefined ? payload : JSON.stringify(text, null, 2))
    .split('\n')
    .map((line) => line.replaceAll(UNPRINTED, '?'))
    .join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
