import type { z } from 'zod';
import { job } from '@vision/contracts/inference';
import { listBackendJobs, listJobsOfBackend } from '@vision/contracts/tasks';
import { pagesUpTo, queryOf, wholeNumber } from '../command.ts';
import type { CommandGroup } from '../command.ts';
import { facts, table } from '../table.ts';

const ENDED: readonly string[] = ['stopped', 'succeeded', 'failed', 'refunded'];
const hasEnded = (status: string): boolean => ENDED.includes(status);
const PAGE = 100;
const COLUMNS = [
  'task_id',
  'subject',
  'task',
  'age_s',
  'job',
  'attempt',
  'frames_published',
  'frames_dropped',
  'behind_since',
  'error',
];

export const jobCommands: CommandGroup = {
  name: 'jobs',
  alias: 'job',
  summary: 'jobs at the inference backend',
  commands: [
    {
      name: 'unknown',
      summary:
        'list the jobs that run at the backend without a task that has not ended; exit code 1 when there are any',
      run: async ({ admin }) => {
        const found: z.infer<typeof listJobsOfBackend.reply>['items'] = [];
        for (let after: string | undefined; after !== '';) {
          const path = `/admin/v1/backend-jobs${queryOf({ after, limit: PAGE })}`;
          const page = await admin.call(listJobsOfBackend.reply, { method: 'GET', path });
          found.push(...page.items.filter(({ task }) => !task || hasEnded(task.status)));
          after = page.next_cursor;
        }
        const rows = found.map(({ job: { job_id, status, ...facts }, task }) => ({
          job_id,
          job: status,
          ...facts,
          task: task?.status ?? 'unknown',
          subject: task?.subject,
        }));
        const text = table(['job_id', 'job', 'attempt', 'frames_published', 'task', 'subject'], rows);
        return { value: { items: found }, text, exitCode: found.length === 0 ? 0 : 1 };
      },
    },
    {
      name: 'stop',
      args: [{ name: 'job', summary: 'its id' }],
      options: { reason: { value: 'text', summary: 'why, for the audit log', required: true } },
      summary: 'stop a job at the backend that has no task',
      run: async ({ admin, args, options }) => {
        const path = `/admin/v1/backend-jobs/${encodeURIComponent(args['job'] ?? '')}/stop`;
        const value = await admin.call(job, { method: 'POST', path, json: { reason: options['reason'] } });
        return { value, text: facts(value) };
      },
    },
    {
      name: 'list',
      options: {
        subject: { value: 'subject', summary: 'only those of this subject' },
        limit: { value: 'number', summary: 'tasks at most, 100 by default' },
      },
      summary: 'list tasks that have not ended, with the state of their jobs at the backend',
      run: async ({ admin, options }) => {
        const { subject } = options;
        const value = await pagesUpTo(wholeNumber(options, 'limit', 1) ?? PAGE, (after, limit) => {
          const query = queryOf({ subject, after, limit: Math.min(limit, PAGE) });
          return admin.call(listBackendJobs.reply, { method: 'GET', path: `/admin/v1/jobs${query}` });
        });
        const rows = value.items.map(({ status, job, ...task }) => {
          const { status: state = 'missing', ...facts } = job ?? {};
          return { ...task, task: status, job: state, ...facts };
        });
        return { value, text: table(COLUMNS, rows) };
      },
    },
  ],
};
