import fc from 'fast-check';
import { migrations } from '../../../services/inference/src/db/migrations/list.ts';
import { promise } from '../broken.ts';
import { defineWorld } from '../world.ts';
import type { Stage } from '../world.ts';
import { startWorker } from './leases-worker.ts';
import type { Sources, WorkedOn } from './leases-worker.ts';

/** Time passes in steps longer and shorter than a lease. */
const anyPauses = fc.record({
  standbyMs: fc.constant([]),
  pausesMs: fc.array(fc.constantFrom(300, 1_000, 2_500, 4_000), { minLength: 2, maxLength: 8 }),
});
/** Some commits take longer than a worker waits for an answer: its next renewal meets the rows of the one before. */
const stallingStandby = fc.record({
  standbyMs: fc.array(fc.constantFrom(0, 2_300), { minLength: 6, maxLength: 12 }),
  pausesMs: fc.array(fc.constantFrom(300, 700), { minLength: 12, maxLength: 20 }),
});

const plan = fc.record({
  jobs: fc.integer({ min: 1, max: 2 }),
  /** Steps after which the first worker is cut off from its database. */
  firstLives: fc.option(fc.integer({ min: 3, max: 40 }), { nil: undefined }),
  times: fc.oneof(anyPauses, stallingStandby),
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** Two workers claim jobs, renew their leases and let them go; commits and time are as slow as it pleases. */
export const leases = defineWorld<Plan>({
  name: 'leases',
  server: 'postgres',
  schema: { migrations, tables: ['jobs', 'workers'] },
  plan,
  play: async (stage, { jobs, firstLives, times: { standbyMs, pausesMs } }) => {
    for (let job = 0; job < jobs; job += 1) await insertJob(stage, `00000000-0000-7000-8000-00000000000${job}`);
    const { sources, assertHolders, firstOpened } = watchHolders(stage);
    const workers = [
      await startWorker(stage, { name: 'worker a', livesFor: firstLives, standbyMs, sources }),
      await startWorker(stage, { name: 'worker b', livesFor: undefined, standbyMs, sources }),
    ];
    await stage.run(
      [
        async () => {
          for (const worker of workers) worker.start();
          if (standbyMs.length > 0) await firstOpened;
          await stage.pass(pausesMs);
          await Promise.all(workers.map((worker) => worker.stop()));
        },
      ],
      assertHolders,
    );
  },
});

async function insertJob({ db, time }: Stage, jobId: string): Promise<void> {
  const leaseUntil = time.now();
  const source = { source_kind: 'object', object_key: jobId, scene_code: 'person_vehicle', lower_bound: 0.3 };
  await db('jobs').insert({ job_id: jobId, status: 'queued', fingerprint: '', lease_until: leaseUntil, ...source });
}

/** Follows which workers read the source of which job. */
function watchHolders({ db }: Stage) {
  const first = Promise.withResolvers<void>();
  const holders = new Map<string, Set<string>>();
  const dropped: WorkedOn[] = [];
  const ended: WorkedOn[] = [];
  const sources: Sources = {
    opened: ({ jobId, worker }) => {
      const all = holders.get(jobId) ?? new Set();
      holders.set(jobId, all.add(worker));
      first.resolve();
    },
    closed: ({ jobId, worker }) => void holders.get(jobId)?.delete(worker),
    dropped: (work) => void dropped.push(work),
    ended: (work) => void ended.push(work),
  };
  const assertHolders = async () => {
    promise(
      `no job ends while its source goes on: ${ended.map(({ worker }) => worker).join(', ')}`,
      ended.length === 0,
    );
    for (const all of holders.values()) promise(`no job is held by two: ${[...all].join(', ')}`, all.size <= 1);
    for (const { jobId, attempt, worker } of dropped.splice(0)) {
      const row = await db('jobs').where({ job_id: jobId }).first<{ attempt: number } | undefined>('attempt');
      promise(`${worker} keeps a job while its row belongs to it`, row?.attempt !== attempt);
    }
  };
  return { sources, assertHolders, firstOpened: first.promise };
}
