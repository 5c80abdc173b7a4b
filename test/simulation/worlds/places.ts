import fc from 'fast-check';
import { migrations } from '../../../services/tasks/src/db/migrations/list.ts';
import { promise } from '../broken.ts';
import { untilDeath } from '../steps.ts';
import { defineWorld } from '../world.ts';
import { createBackend } from './places-backend.ts';
import { startReplica } from './places-replica.ts';

const SUBJECTS = { big: 100, small: 10, other: 10 } as const;
type Subject = keyof typeof SUBJECTS;

const plan = fc.record({
  places: fc.integer({ min: 1, max: 5 }),
  /** Of them, taken by the subject with the largest weight; this many end meanwhile. */
  taken: fc.integer({ min: 0, max: 5 }),
  ends: fc.integer({ min: 0, max: 2 }),
  keptPercent: fc.constantFrom(0, 20, 50),
  creates: fc.array(
    fc.record({
      subject: fc.constantFrom<Subject>('big', 'small', 'other'),
      replica: fc.constantFrom<'a' | 'b'>('a', 'b'),
      job: fc.constantFrom<'sent' | 'unsent'>('sent', 'unsent'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  /** Steps after which the second replica dies. */
  secondLives: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  pausesMs: fc.array(fc.constantFrom(300, 1_000), { maxLength: 3 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** Create requests of several subjects wait for capacity slots at two replicas of tasks. */
export const places = defineWorld<Plan>({
  name: 'places',
  server: 'postgres',
  schema: { migrations, tables: ['place_claims', 'task_moves', 'tasks'] },
  plan,
  play: async (stage, { places: count, taken, ends, keptPercent, creates, secondLives, pausesMs }) => {
    const backend = createBackend(stage, count);
    for (let job = 0; job < Math.min(taken, count); job += 1) await backend.begin(stage.db, 'big');
    const options = { backend, keptPercent };
    const replicas = {
      a: await startReplica(stage, { ...options, name: 'replica a', livesFor: undefined }),
      b: await startReplica(stage, { ...options, name: 'replica b', livesFor: secondLives }),
    };
    const backendSide = await stage.start('backend');
    await stage.run(
      [
        async () => {
          await Promise.all(
            creates.map(({ subject, replica, job }, index) => {
              const taskId = `00000000-0000-7000-8000-00000000000${index}`;
              const claim = { taskId, subject, kind: 'stream' as const, weight: SUBJECTS[subject] };
              return untilDeath(() => replicas[replica].create(claim, job));
            }),
          );
          for (const replica of Object.values(replicas)) replica.stop();
        },
        ...Object.values(replicas).map((replica) => () => untilDeath(replica.rounds)),
        async () => {
          for (let end = 0; end < ends; end += 1) {
            await backendSide.step('a job ends');
            await backend.end();
          }
        },
        () => stage.pass(pausesMs),
      ],
      () => {
        const all = Object.values(replicas);
        backend.noteFree(all.reduce((sum, replica) => sum + replica.granted(), 0));
        // What a dead replica had been granted is free again after a while.
        if (all.some((replica) => replica.isDead())) return;
        for (const subject of all.flatMap((replica) => replica.starving()))
          promise(`a free slot goes to a subject without one; ${subject} did not get it`, false);
      },
    );
  },
});
