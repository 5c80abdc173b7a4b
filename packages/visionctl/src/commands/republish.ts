import { republished } from '@vision/contracts/outbox';
import type { Republished } from '@vision/contracts/outbox';
import type { Command, CommandContext } from '../command.ts';
import { facts } from '../table.ts';
import { UsageError } from '../usage-error.ts';

export const republishCommand: Command = {
  name: 'republish',
  options: {
    service: {
      value: 'name',
      summary: 'service that published the events',
      choices: ['tasks', 'images', 'results', 'notify'],
      required: true,
    },
    from: { value: 'instant', summary: 'first instant, such as 2026-03-15T08:00:00Z', required: true },
    to: { value: 'instant', summary: 'instant after the last; now by default' },
    yes: { summary: 'publish them; without it they are only counted' },
  },
  summary: 'publish events again after a loss of Kafka; events are retained for seven days',
  run: async (context) => {
    const { options } = context;
    const range = {
      service: options['service'],
      from: instant('from', options['from']),
      to: instant('to', options['to'] ?? new Date().toISOString()),
    };
    const counted = await ask(context, { ...range, dry_run: true });
    if (options['yes'] !== 'true') {
      const text = `${facts({ ...counted, next_cursor: undefined })}\nNothing was published: add --yes to do it.`;
      return { value: { ...counted, dry_run: true }, text };
    }
    let after: string | undefined;
    let events = 0;
    do {
      const page: Republished = await ask(context, { ...range, dry_run: false, after });
      events += page.events;
      after = page.next_cursor;
      context.progress(`${events} of ${counted.events} events`);
    } while (after !== '');
    return { value: { ...range, events }, text: `${events} events of ${range.service ?? ''} were published again.` };
  },
};

const ask = ({ admin }: CommandContext, json: object): Promise<Republished> =>
  admin.call(republished, { method: 'POST', path: '/admin/v1/outbox/republish', json });

function instant(name: string, text = ''): string {
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(date.getTime())) {
    throw new UsageError(`--${name} is an instant like 2026-03-15T08:00:00Z.`);
  }
  return date.toISOString();
}
