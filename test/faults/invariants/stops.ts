import type { State } from '../state.ts';
import type { Strike } from '../nemesis/nemesis.ts';
import type { Invariant } from './invariant.ts';
import { isDelayedByRelease } from './releases.ts';

const LIMIT_MS = 10_000;
/** Faults that ended so long before a stop are told with it. */
const BEFORE_MS = 20_000;

interface StopRow {
  task_id: string;
  asked: Date;
  ended: Date;
}

interface JobRow {
  job_id: string;
  attempt: number;
  ended_at: Date | null;
}

/** Which half of the time the worker took, and which one the readability of the last frames. */
function endOf(job: JobRow | undefined, { asked }: StopRow): string {
  if (!job) return 'of the scripted backend';
  const tookMs = job.ended_at && job.ended_at.getTime() - asked.getTime();
  return `its job of attempt ${job.attempt} ended after ${tookMs} ms`;
}

const namesOf = (strikes: readonly Strike[]) => strikes.map(({ name }) => name).join(', ') || 'no fault';

/**
 * Faults during which the backend of a task does not answer, or nobody can hear it: no process can then end a task.
 * Without Kafka no frame can be read, so a task ends when `RESULTS_GRACE_MS` is over.
 */
const silencing = (isReal: boolean) =>
  isReal
    ? /^(inference|jobs|store postgres|store kafka|store s3|process inference|link inference)/
    : /^(inference|jobs|store postgres|store kafka)/;

const overlaps = ({ from, to }: Strike, row: StopRow) => from <= row.ended.getTime() && to >= row.asked.getTime();

export const stopInvariants: Invariant[] = [
  {
    id: 'stops',
    says: 'No stop takes longer than 10 s while its backend answers, whatever other process hangs',
    check: async ({ stores, strikes, world }: State) => {
      const rows = await stores.query<StopRow>(
        'tasks',
        `select stopped.task_id, asked.at as asked, stopped.at as ended
           from task_moves as stopped
           join lateral (
             select at from task_moves
              where task_id = stopped.task_id and to_status = 'stopping' order by version limit 1
           ) as asked on true
          where stopped.to_status in ('stopped', 'succeeded', 'failed') and stopped.from_status = 'stopping'`,
      );
      const jobs = await stores.query<JobRow>('inference', 'select job_id, attempt, ended_at from jobs');
      return rows.flatMap((row) => {
        const took = row.ended.getTime() - row.asked.getTime();
        const isSilencing = silencing(world.backends.isReal(row.task_id));
        const during = strikes.filter((strike) => overlaps(strike, row));
        const isExcused = during.some(
          (strike) => strike.holds.some((one) => isSilencing.test(one)) || isDelayedByRelease(world.older, strike),
        );
        if (took <= LIMIT_MS || isExcused) return [];
        const job = world.backends.isReal(row.task_id) ? jobs.find(({ job_id: id }) => id === row.task_id) : undefined;
        const before = strikes.filter(({ to }) => to < row.asked.getTime() && to > row.asked.getTime() - BEFORE_MS);
        return [
          `task ${row.task_id} took ${took} ms from ${row.asked.toISOString()}, ${endOf(job, row)}; during ` +
            `${namesOf(during)}; before ${namesOf(before)}`,
        ];
      });
    },
  },
];
