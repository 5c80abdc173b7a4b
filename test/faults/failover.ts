import { setTimeout as delay } from 'node:timers/promises';
import { admin } from '../support/system.ts';
import { computeDifferences, differencesTold, nameOf } from './differences.ts';
import { frameInvariants } from './invariants/frames.ts';
import { underLoad } from './load.ts';
import { FAILOVER } from './nemesis/fault.ts';
import type { Strike } from './nemesis/nemesis.ts';
import type { Verdict } from './report.ts';
import { settle, stopEverything } from './settle.ts';
import type { State } from './state.ts';

/** Load before a standby takes over, and after. */
const AROUND_MS = 5_000;

/**
 * The database fails over to an asynchronous standby under load, so commits that were acknowledged are gone: of what
 * users were promised only the frames come back, because the broker still has them.
 */
export async function loseCommits(state: State, { times, random }: { times: number; random: () => number }) {
  const strikes: Strike[] = [];
  for (let time = 0; time < times; time += 1) {
    await state.world.database.addStandby();
    const from = Date.now();
    await underLoad(state.workload, { random }, async () => {
      await delay(AROUND_MS);
      await state.world.database.failOver(1_500 + random() * 2_000);
      await delay(AROUND_MS);
    });
    strikes.push({ name: FAILOVER, holds: ['store postgres'], from, to: Date.now(), notes: [] });
  }
  await settle(state);
  await stopEverything(state);
  await settle(state);
  return strikes;
}

/** What may be asked of a system that has lost commits. */
export async function checkFilledAgain(
  state: State,
  lasting: (check: () => Promise<string[]> | string[]) => Promise<string[]>,
): Promise<Verdict[]> {
  const stored = frameInvariants.filter(({ id }) => id === 'I8');
  const filled = stored.map(async ({ check }) => ({
    id: 'lost',
    says: 'After a failover that lost commits every frame that the broker took is stored again',
    breaches: await lasting(() => check(state)),
  }));
  return Promise.all([...filled, checkTold(state, lasting)]);
}

/** Whatever else the lost commits have put apart stays so until someone looks at it, so it has to be told. */
async function checkTold(
  state: State,
  lasting: (check: () => Promise<string[]>) => Promise<string[]>,
): Promise<Verdict> {
  const seen = new Set<string>();
  const breaches = await lasting(async () => {
    const differences = (await computeDifferences(state)).map(nameOf);
    for (const name of differences) seen.add(name);
    const told = new Set(differencesTold(state).map(nameOf));
    return differences.filter((name) => !told.has(name));
  });
  await stopJobsOfNobody(state);
  const says = `What a failover that lost commits leaves different is reported by the audits (${seen.size} differences)`;
  return { id: 'told', says, breaches };
}

/**
 * As an operator does who has looked at what was lost: until then a database that lost commits counts as restored, and
 * removes nothing that is in the bucket.
 */
export async function resumeRetention(): Promise<void> {
  for (const service of ['tasks', 'images', 'results']) {
    const decision = { service, decision: 'resume', reason: 'the differences were looked at' };
    const { status } = await admin('POST', '/admin/v1/bucket/decisions', decision);
    if (status !== 200) throw new Error(`retention of ${service} could not be resumed: ${status}`);
  }
}

/** As the operator would, who was told of them: they would run on for ever. */
async function stopJobsOfNobody({ world, stores }: State): Promise<void> {
  const tasks = await stores.query<{ id: string }>('tasks', 'select task_id as id from tasks');
  const known = new Set(tasks.map(({ id }) => id));
  for (const jobId of world.scripted.jobs.keys()) if (!known.has(jobId)) world.scripted.end(jobId, 'stopped');
}
