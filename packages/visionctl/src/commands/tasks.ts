import { z } from 'zod';
import type { Command } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { facts, table } from '../table.ts';

const task = z.record(z.string(), z.unknown());
const list = z.object({ items: z.array(task) });

export const taskCommands: Command[] = [
  {
    name: 'tasks resolving',
    summary: 'list the tasks whose submission has an unknown outcome',
    run: async ({ admin }) => {
      const value = await admin.call(list, { method: 'GET', path: '/admin/v1/tasks?status=resolving' });
      const columns = [...new Set(value.items.flatMap((item) => Object.keys(item)))];
      return { value, text: table(columns, value.items) };
    },
  },
  {
    name: 'tasks verify',
    args: ['task_id', 'outcome'],
    options: { 'note!': 'how you know' },
    summary: 'say that the job of a waiting task was created or not_created',
    run: async ({ admin, args, options }) => {
      const { task_id: id = '', outcome = '' } = args;
      if (outcome !== 'created' && outcome !== 'not_created') {
        throw new UsageError('<outcome> is created or not_created.');
      }
      const path = `/admin/v1/tasks/${encodeURIComponent(id)}/verification`;
      const json = { outcome, note: options['note'] };
      const value = await admin.call(task, { method: 'POST', path, json });
      return { value, text: facts(value) };
    },
  },
];
