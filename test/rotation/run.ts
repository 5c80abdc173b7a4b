/**
 * `make rotate`: rotates every key, token and password of a running system, one after the other, in the order that
 * docs/rotation.md gives, while clients go on. Nothing they ask may fail. `ONLY=name,name` rotates some of them;
 * `HASTY=1` does the last step of each at once, so the run has to fail. An argument names a file for the counts.
 */
import { giveIdleConnectionsUp } from '@vision/shared/testing/idle-fetch';
import { readSettings } from '../../deploy/local/settings.ts';
import { lasting } from '../faults/invariants/lasting.ts';
import { seeded } from '../faults/random.ts';
import type { State } from '../faults/state.ts';
import { openStores } from '../faults/stores.ts';
import { startWorld } from '../faults/world/world.ts';
import { countStoredFrames } from '../support/stored-frames.ts';
import { tell } from './outcome.ts';
import type { Outcome, Rotated } from './outcome.ts';
import { countRequests } from './requests.ts';
import { perform } from './rotation.ts';
import type { Rotation, Stage } from './rotation.ts';
import { given, givenSecrets, makeRedisUser, settings } from './settings.ts';

const only = (process.env['ONLY'] ?? '').split(',').filter(Boolean);
const isHasty = Boolean(process.env['HASTY']);
/** The clocks of streams and sweepers have passed twice by then. */
const PATIENCE_MS = 90_000;

const started = Date.now();
const say = (text: string) => console.log(`rotate     ${Math.round((Date.now() - started) / 1000)} s: ${text}`);

giveIdleConnectionsUp();
process.env['VISION_QUIET'] = '1';
const random = seeded(1);
const world = await startWorld(readSettings(), {
  folder: 'rotate',
  random,
  env: settings,
  secretsOf: givenSecrets,
  asksReadiness: true,
  s3Keys: [given.nextS3Keys],
  prepare: makeRedisUser,
});
Object.assign(process.env, { BASE_URL: world.baseUrl, ADMIN_URL: world.adminUrl, ADMIN_TOKEN: world.adminToken });
// These read the addresses above when they are loaded.
const { Caller } = await import('../support/system.ts');
const { createWorkload } = await import('../faults/workload.ts');
const { invariants } = await import('../faults/invariants/invariants.ts');
const { settle, stopEverything } = await import('../faults/settle.ts');
const { follow } = await import('./follower.ts');
const { keepCursors } = await import('./kept-cursors.ts');
const { createLoad } = await import('./load.ts');
const { rotationsOn } = await import('./rotations/list.ts');

/** What of the invariants of the fault suite is not about faults, and takes no time of its own. */
const HELD = [
  'I8',
  'read',
  'seq',
  'I1',
  'I2',
  'I3/I4',
  'I5/I6',
  'I7',
  'I9',
  'I10',
  'I11',
  'I15',
  'I16',
  'exported',
  'I18',
];

let failed = true;
try {
  say('the system runs');
  failed = tell(await rotateAll(), process.argv[2]);
} catch (error) {
  console.error(`rotate     ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
} finally {
  await world.close();
}
say('done');
process.exit(failed ? 1 : 0);

async function rotateAll(): Promise<Outcome> {
  const stores = openStores(world);
  const requests = countRequests();
  const cursors = keepCursors(requests, random);
  const workload = await createWorkload(world, random, { observe: requests.observe });
  const createCaller = () => Caller.create();
  const own = await createCaller();
  const streams = [
    { kind: 'stream', streamUrl: world.streams.probed },
    { kind: 'real stream', streamUrl: world.streams.live[0]?.url ?? '' },
  ] as const;
  const followers = await Promise.all(streams.map((stream) => follow({ workload, requests, cursors }, own, stream)));
  const load = createLoad({ workload, requests, cursors, followers, random });
  const stage: Stage = { world, stores, load, createCaller };
  const all = rotationsOn(stage).filter(({ name }) => only.length === 0 || only.includes(name));
  load.start();
  await load.rounds();
  const rotated: Rotated[] = [];
  for (const rotation of all) rotated.push(await rotate(stage, rotation));
  await load.rounds();
  await load.stop();
  say('the clients have ended; settling');
  const state: State = { world, workload, stores, strikes: [] };
  const lost = await Promise.all(
    followers.map((follower) => follower.finish(() => countStoredFrames(stores.askResults, follower.taskId))),
  );
  workload.creates.push(...followers.map(({ create }) => create));
  await settle(state);
  await stopEverything(state);
  await settle(state);
  const verdicts: Outcome['verdicts'] = [
    { id: 'followed', says: 'Each followed stream was read from its first frame to its last', breaches: lost.flat() },
    { id: 'places', says: 'Nine of ten creates for real workers found a place', breaches: requests.crowded() },
    ...(await check(state)),
  ];
  const facts = [
    `${requests.total()} requests, ${requests.failures.length} failed: ${listOf(requests.totals())}.`,
    `${workload.creates.length} creates, each key repeated at random; cursors taken earlier were used ${cursors.count().used} times.`,
    `Streams that ran all the time: ${followers.map(({ name, frames }) => `${name} ${frames()} frames`).join(', ')}, none lost, none read twice.`,
  ];
  for (const { name, whenQuiet } of all) {
    if (whenQuiet) verdicts.push({ id: name, says: 'The old one is refused', breaches: await whenQuiet() });
  }
  await stores.close();
  return { rotated, verdicts, facts };
}

async function rotate({ world: { replicas }, load }: Stage, rotation: Rotation): Promise<Rotated> {
  const { name, says } = rotation;
  const { requests } = load;
  const from = { at: Date.now(), total: requests.total(), failures: requests.failures.length };
  const steps = isHasty ? rotation.steps.slice(-1) : rotation.steps;
  let restarts = 0;
  for (const step of steps) {
    requests.during = `${name}: ${step.says}`;
    say(requests.during);
    await perform(world, step);
    restarts += replicas.filter(({ service }) => step.services.includes(service)).length;
  }
  // Everybody comes by once more, over what the last step left.
  await load.rounds();
  const stillOpen = await rotation.stillOpen();
  return {
    name,
    says,
    steps: steps.map((step) => step.says),
    restarts,
    seconds: Math.round((Date.now() - from.at) / 1000),
    requests: requests.total() - from.total,
    failures: requests.failures.slice(from.failures),
    stillOpen,
  };
}

async function check(state: State): Promise<Outcome['verdicts']> {
  const patience = Date.now() + PATIENCE_MS;
  const verdicts: Outcome['verdicts'] = [];
  for (const invariant of invariants.filter(({ id }) => HELD.includes(id))) {
    const breaches = await lasting(() => invariant.check(state), patience);
    verdicts.push({ id: invariant.id, says: invariant.says, breaches });
  }
  return verdicts;
}

function listOf(totals: ReadonlyMap<string, number>): string {
  const sorted = [...totals].toSorted(([, one], [, other]) => other - one);
  return sorted.map(([operation, count]) => `${count} ${operation}`).join(', ');
}
