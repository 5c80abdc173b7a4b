import { listBackendJobs } from '@vision/shared/contracts/tasks';
import { pagesUpTo, queryOf, wholeNumber } from '../command.ts';
import type { CommandGroup } from '../command.ts';
import { table } from '../table.ts';

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
      name: 'list',
      options: {
        subject: { value: 'subject', summary: 'only those of this subject' },
        limit: { value: 'number', summary: 'tasks at most, 100 by default' },
      },
      summary: 'list the tasks that have not ended beside what the backend says of their jobs now',
      run: async ({ admin, options }) => {
        const { subject } = options;
        const value = await pagesUpTo(wholeNumber(options, 'limit', 1) ?? PAGE, (after, limit) => {
          const query = queryOf({ subject, after, limit: Math.min(limit, PAGE) });
          return admin.call(listBackendJobs.reply, { method: 'GET', path: `/admin/v1/jobs${query}` });
        });
        const rows = value.items.map(({ status, job, ...task }) => {
          const { status: state = 'missing', ...told } = job ?? {};
          return { ...task, task: status, job: state, ...told };
        });
        return { value, text: table(COLUMNS, rows) };
      },
    },
  ],
};
