import { z } from 'zod';
import { taskStatus } from '@vision/contracts/task-events';
import { pagesUpTo, queryOf, wholeNumber } from '../command.ts';
import type { CommandContext, CommandGroup, Output } from '../command.ts';
import { facts, table } from '../table.ts';
import { showTaskCommand } from './show-task.ts';

const PAGE = 1000;
const COLUMNS = ['task_id', 'subject', 'kind', 'status', 'scene_code', 'age_s', 'frames_published', 'reason'];

const task = z.record(z.string(), z.unknown());
const list = z.object({ items: z.array(task), next_cursor: z.string() });
const taskId = { name: 'task_id', summary: 'id of the task' };

export const taskCommands: CommandGroup = {
  name: 'tasks',
  alias: 'task',
  summary: 'tasks of all subjects',
  commands: [
    {
      name: 'list',
      options: {
        status: { value: 'status', summary: 'only those in this state', choices: taskStatus.options },
        subject: { value: 'subject', summary: 'only those of this subject' },
        kind: { value: 'kind', summary: 'only those of this kind', choices: ['stream', 'upload', 'image'] },
        'older-than': { value: 'seconds', summary: 'minimum time since creation' },
        'younger-than': { value: 'seconds', summary: 'maximum time since creation' },
        order: { value: 'order', summary: 'order by creation, newest first by default', choices: ['newest', 'oldest'] },
        limit: { value: 'number', summary: 'tasks at most, 50 by default' },
        after: { value: 'task_id', summary: 'continue after this task' },
      },
      summary: 'list tasks and image calls',
      run: listTasks,
    },
    showTaskCommand,
    {
      name: 'stop',
      args: [taskId],
      options: { reason: { value: 'text', summary: 'why, for the audit log' } },
      summary: 'stop a task in your name; exit code 1 when its end is not confirmed yet',
      run: async ({ admin, args, options }) => {
        const path = `/admin/v1/tasks/${encodeURIComponent(args['task_id'] ?? '')}/stop`;
        const value = await admin.call(task, { method: 'POST', path, json: { reason: options['reason'] ?? '' } });
        const isOver = value['ended_at'] !== undefined;
        const note = isOver ? '' : '\nIts end is not confirmed yet; the service goes on. Look again with `tasks show`.';
        return { value, text: facts(value) + note, exitCode: isOver ? 0 : 1 };
      },
    },
    {
      name: 'resolving',
      summary: 'list the tasks whose submission has an unknown outcome, oldest first',
      run: async ({ admin }) => {
        const path = `/admin/v1/tasks${queryOf({ status: 'resolving' })}`;
        const value = await admin.call(list.partial({ next_cursor: true }), { method: 'GET', path });
        const columns = [...new Set(value.items.flatMap((item) => Object.keys(item)))];
        return { value, text: table(columns, value.items) };
      },
    },
    {
      name: 'verify',
      args: [
        { name: 'task_id', summary: 'the waiting task' },
        { name: 'outcome', summary: 'your finding', choices: ['created', 'not_created'] },
      ],
      options: { note: { value: 'text', summary: 'your evidence', required: true } },
      summary: 'record that the job of a waiting task was created or not_created',
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

async function listTasks({ admin, options }: CommandContext): Promise<Output> {
  const filter = {
    status: options['status'],
    subject: options['subject'],
    kind: options['kind'],
    older_than_s: wholeNumber(options, 'older-than', 1),
    younger_than_s: wholeNumber(options, 'younger-than', 1),
    order: options['order'] ?? 'newest',
  };
  const value = await pagesUpTo(wholeNumber(options, 'limit', 1) ?? 50, (after = options['after'], limit) => {
    const query = queryOf({ ...filter, after, limit: Math.min(limit, PAGE) });
    return admin.call(list, { method: 'GET', path: `/admin/v1/tasks${query}` });
  });
  const more = value.next_cursor === '' ? '' : `\nThere are more: --after ${value.next_cursor}`;
  return { value, text: table(COLUMNS, value.items) + more };
}
