import { z } from 'zod';
import { subjectLimits } from '@vision/contracts/limits';
import { usageReply } from '@vision/contracts/quota';
import type { Command, CommandContext, CommandGroup } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { facts, table } from '../table.ts';

const limits = z.record(z.string(), z.number());
/** `--images-per-day` for `images_per_day`. */
const optionOf = (limit: string) => limit.replaceAll('_', '-');
const names = Object.keys(subjectLimits.shape);
const pathOf = ({ args }: CommandContext, what: string) =>
  `/admin/v1/subjects/${encodeURIComponent(args['subject'] ?? '')}/${what}`;

const subject = { name: 'subject', summary: 'a subject' };

export const limitCommands: CommandGroup = {
  name: 'limits',
  summary: 'limits of subjects',
  commands: [
    {
      name: 'get',
      args: [subject],
      summary: 'show the limits in force for a subject',
      run: async (context) => {
        const value = await context.admin.call(limits, { method: 'GET', path: pathOf(context, 'limits') });
        return { value, text: facts(value) };
      },
    },
    {
      name: 'set',
      args: [subject],
      options: Object.fromEntries(
        names.map((name) => [optionOf(name), { value: 'number', summary: 'a number, or "default"' }]),
      ),
      summary: 'change limits of a subject; "default" resets one',
      run: async (context) => {
        const json = changeOf(context.options);
        const value = await context.admin.call(limits, { method: 'PUT', path: pathOf(context, 'limits'), json });
        return { value, text: facts(value) };
      },
    },
  ],
};

export const usageCommand: Command = {
  name: 'usage',
  args: [subject],
  summary: "show the units of today's quota that a subject used",
  run: async (context) => {
    const value = await context.admin.call(usageReply, { method: 'GET', path: pathOf(context, 'usage') });
    const rows = Object.entries(value).map(([kind, usage]) => ({ kind, ...usage }));
    return { value, text: table(['kind', 'limit', 'used', 'remaining', 'resets_at'], rows) };
  },
};

function changeOf(options: CommandContext['options']): Record<string, number | null> {
  const change: Record<string, number | null> = {};
  for (const name of names) {
    const given = options[optionOf(name)];
    if (given === undefined) continue;
    const value = given === 'default' ? null : Number(given);
    if (value !== null && (given.trim() === '' || !Number.isFinite(value))) {
      throw new UsageError(`--${optionOf(name)} is a number or "default".`);
    }
    change[name] = value;
  }
  if (Object.keys(change).length === 0) {
    throw new UsageError(`Name at least one of ${names.map((name) => `--${optionOf(name)}`).join(', ')}.`);
  }
  return change;
}
