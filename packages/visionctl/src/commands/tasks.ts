import { z } from 'zod';
import type { CommandGroup } from '../command.ts';
import { facts, table } from '../table.ts';

const task = z.record(z.string(), z.unknown());
const list = z.object({ items: z.array(task) });

export const taskCommands: CommandGroup = {
  name: 'tasks',
  alias: 'task',
  summary: 'tasks of all subjects',
  commands: [
    {
      name: 'resolving',
      summary: 'list the tasks whose submission has an unknown outcome',
      run: async ({ admin }) => {
        const value = await admin.call(list, { method: 'GET', path: '/admin/v1/tasks?status=resolving' });
        const columns = [...new Set(value.items.flatMap((item) => Object.keys(item)))];
        return { value, text: table(columns, value.items) };
      },
    },
    {
      name: 'verify',
      args: [
        { name: 'task_id', summary: 'the waiting task' },
        { name: 'outcome', summary: 'what you found out', choices: ['created', 'not_created'] },
      ],
      options: { note: { value: 'text', summary: 'how you know', required: true } },
      summary: 'say that the job of a waiting task was created or not_created',
      run: async ({ admin, args, options }) => {
        const { task_id: id = '', outcome = '' } = args;
        const path = `/admin/v1/tasks/${encodeURIComponent(id)}/verification`;
        const json = { outcome, note: options['note'] };
        const value = await admin.call(task, { method: 'POST', path, json });
        return { value, text: facts(value) };
      },
    },
  ],
};
