import type { State } from '../state.ts';
import type { Strike } from '../nemesis/nemesis.ts';
import type { Invariant } from './invariant.ts';
import { isDelayedByRelease } from './releases.ts';

const LIMIT_MS = 10_000;
/**
 * What a fault held up needs a while to go on: a lease of a dead worker ends, consumers of a broker that came back wait
 * for the sessions of members that did not.
 */
const RECOVERY_MS = 15_000;

interface StopRow {
  task_id: string;
  asked: Date;
  ended: Date;
}

interface JobRow {
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

/** One of the two processes of tasks drives a stop on; two faults may leave none. */
const hitsTasks = ({ name }: Strike) => name.startsWith('tasks') || name.startsWith('all services');

const overlaps = ({ from, to }: Strike, row: StopRow) =>
  from <= row.ended.getTime() && to + RECOVERY_MS >= row.asked.getTime();

/** A stop, and the faults that struck during it or shortly before. */
interface Stop extends StopRow {
  tookMs: number;
  during: Strike[];
  isExcused: boolean;
}

async function stopsOf({ stores, strikes, world }: State): Promise<Stop[]> {
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
  return rows.map((row) => {
    const isSilencing = silencing(world.backends.isReal(row.task_id));
    const during = strikes.filter((strike) => overlaps(strike, row));
    const isSilenced = during.some(({ holds }) => holds.some((one) => isSilencing.test(one)));
    const isDelayed = during.some((strike) => isDelayedByRelease(world.older, strike));
    const isExcused = isSilenced || isDelayed || during.filter(hitsTasks).length > 1;
    return { ...row, tookMs: row.ended.getTime() - row.asked.getTime(), during, isExcused };
  });
}

async function describeStop({ stores, world }: State, stop: Stop): Promise<string> {
  const { task_id: taskId, asked, tookMs, during } = stop;
  const jobs = world.backends.isReal(taskId)
    ? await stores.query<JobRow>('inference', 'select attempt, ended_at from jobs where job_id = $1', [taskId])
    : [];
  const times = `took ${tookMs} ms from ${asked.toISOString()}, ${endOf(jobs[0], stop)}`;
  return `task ${taskId} ${times}; during ${namesOf(during)}`;
}

/** How many stops there were, and how near those that no fault excuses came to the limit. */
export async function tellStops(state: State): Promise<string> {
  const stops = await stopsOf(state);
  const evaluated = stops.filter(({ isExcused }) => !isExcused);
  const [slowest] = evaluated.sort((a, b) => b.tookMs - a.tookMs);
  const told = slowest ? `; the slowest: ${await describeStop(state, slowest)}` : '';
  return `${stops.length} stops, ${evaluated.length} of them judged, as no fault had silenced their backend${told}.`;
}

export const stopInvariants: Invariant[] = [
  {
    id: 'stops',
    says: 'No stop takes longer than 10 s while its backend answers, even if other processes hang',
    check: async (state: State) => {
      const slow = (await stopsOf(state)).filter(({ tookMs, isExcused }) => tookMs > LIMIT_MS && !isExcused);
      return Promise.all(slow.map((stop) => describeStop(state, stop)));
    },
  },
];
