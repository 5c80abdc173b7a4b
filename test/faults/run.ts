/**
 * `make faults SEED=1 MINUTES=2 ONLY=s3,redis BROKERS=3 BESIDE=1`: breaks a running system in seeded ways and checks
 * what must hold afterwards. The seed fixes the choices; their timing depends on the machine. An argument names a file
 * for the counts of held and breached invariants.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readSettings, root } from '../../deploy/local/settings.ts';
import { writeCounts } from '../../scripts/test-results.ts';
import { checkOutBaseRelease } from '../beside/last-release.ts';
import { tellFacts } from './facts.ts';
import { watchHealth } from './health.ts';
import { lasting } from './invariants/lasting.ts';
import { PAUSE_MS, underLoad } from './load.ts';
import type { Listeners } from './listeners.ts';
import { FAILOVER, HOLE } from './nemesis/fault.ts';
import { breakThings, faults, timesOf } from './nemesis/nemesis.ts';
import type { Strike } from './nemesis/nemesis.ts';
import { seeded } from './random.ts';
import { writeReport } from './report.ts';
import type { Verdict } from './report.ts';
import { hastened, ofLastRelease } from './settings.ts';
import { openStores } from './stores.ts';
import { startWorld } from './world/world.ts';

const seed = Number(process.env['SEED'] ?? 1);
const minutes = Number(process.env['MINUTES'] ?? 0.5);
const FAULTS_AT_ONCE = 3;
const OWNERS_PAUSE_MS = 3_000;
const texts = (process.env['ONLY'] ?? '').split(',');
/** With three, faults of single brokers strike as well. */
const brokers = Number(process.env['BROKERS'] ?? 1);
/** From here on a run is long enough for every fault to strike as often as this. */
const LONG_RUN_MINUTES = 20;
const LEAST_TIMES = 2;
/** Until then a long run goes on, on a slow machine for half as long again at most. */
const MOST_MINUTES = minutes < LONG_RUN_MINUTES ? minutes : minutes * 1.5;
/** Every create is repeated afterwards: a long run makes fewer of them in a minute. */
const pauseMs = minutes < LONG_RUN_MINUTES ? PAUSE_MS : 800;
/** By then every sweeper has passed twice, with the settings of the run. */
const SWEEPERS_MS = 150_000;
/** One pass of each. */
const SWEEP_MS = 60_000;

const started = Date.now();
const say = (text: string) => console.log(`faults     ${Math.round((Date.now() - started) / 1000)} s: ${text}`);

const base = readSettings();
/** With `BESIDE`, what the second process of each service runs from. */
const last = process.env['BESIDE'] ? checkOutBaseRelease(root, base.localDir) : undefined;
const older = last && { ...last, env: ofLastRelease };
if (older) process.env['OLDER_DOCUMENTS'] = join(older.tree, 'docs/openapi');

say(`seed ${seed}, ${minutes} minutes${older ? `, the second processes are of release ${older.version}` : ''}`);
process.env['VISION_QUIET'] = '1';
const random = seeded(seed);
const world = await startWorld(base, { folder: 'faults', random, brokers, env: hastened, older });
/** Only faults that can strike here, and whose name has one of these texts. */
const only = faults
  .filter(({ name, isPossible }) => texts.some((text) => name.includes(text)) && (isPossible?.(world) ?? true))
  .map(({ name }) => name);
/** Of a fault that is alone one strike is enough; it lasts as long as the run. */
const isAlone = only.length === 1;
const isLong = minutes >= LONG_RUN_MINUTES && !isAlone;
const failovers = Number(process.env['FAILOVERS'] ?? (minutes >= 5 && !isAlone ? 3 : 0));
Object.assign(process.env, { BASE_URL: world.baseUrl, ADMIN_URL: world.adminUrl, ADMIN_TOKEN: world.adminToken });
// These read the addresses above when they are loaded.
const { createWorkload } = await import('./workload.ts');
const { createListeners } = await import('./listeners.ts');
const { invariants } = await import('./invariants/invariants.ts');
const { loopInvariants } = await import('./invariants/loops.ts');
const { releaseInvariants } = await import('./invariants/releases.ts');
const { retention } = await import('./invariants/retention.ts');
const { auditInvariants } = await import('./invariants/audits.ts');
const { eventInvariants } = await import('./invariants/events.ts');
const { deletionInvariants } = await import('./invariants/deletions.ts');
const { finishDeletions, settle, stopEverything, stopRealStreams } = await import('./settle.ts');
const { checkFilledAgain, loseCommits, resumeRetention } = await import('./failover.ts');
const { checkAlarms, loseRecords } = await import('./holes.ts');

let failed = true;
try {
  say('the system runs');
  const workload = await createWorkload(world, random, { deletes: true });
  const stores = openStores(world);
  const listeners = await createListeners(world, workload.callers, stores);
  const health = watchHealth(world.replicas);
  const begun = Date.now();
  let isToldOfFew = false;
  const wantedOf = (soFar: readonly Strike[]): readonly string[] => {
    const took = (Date.now() - begun) / 60_000;
    if (took < minutes) return only;
    const few = !isLong || took >= MOST_MINUTES ? [] : [...fewOf(only, soFar).keys()];
    if (few.length > 0 && !isToldOfFew)
      say(`${few.length} faults go on until each struck ${LEAST_TIMES} times, ${MOST_MINUTES} minutes at most`);
    isToldOfFew = few.length > 0;
    return few;
  };
  const lastsMs = isAlone ? minutes * 60_000 : undefined;
  const nemesis = () => breakThings(world, { seed, atOnce: FAULTS_AT_ONCE, wantedOf, lastsMs });
  const strikes = await underLoad(workload, { random, pauseMs }, () => whileOwnersAct(listeners, nemesis));
  say(`${strikes.length} faults over ${workload.creates.length} creates; becoming quiet`);
  const state = { world, workload, stores, strikes };
  await settle(state);
  await finishDeletions(state);
  say('quiet; repeating every create');
  await stopRealStreams(state);
  const verdicts: Verdict[] = [];
  const converges = invariants.filter(({ id }) => id === 'I12');
  for (const invariant of converges) verdicts.push({ ...invariant, breaches: await invariant.check(state) });
  await settle(state);
  say('stopping what runs');
  await stopEverything(state);
  await settle(state);
  say('checking');
  const patience = Date.now() + SWEEPERS_MS;
  // The audits come last, so that they have had their time meanwhile.
  for (const invariant of [
    ...invariants.filter((one) => !converges.includes(one)),
    ...deletionInvariants,
    ...eventInvariants(listeners),
    ...loopInvariants,
    ...(older ? releaseInvariants : []),
    ...auditInvariants,
  ]) {
    // One that never comes to hold takes no patience from those behind it.
    const until = Math.max(patience, Date.now() + SWEEP_MS);
    verdicts.push({ ...invariant, breaches: await lasting(() => invariant.check(state), until) });
  }
  verdicts.push({
    id: 'health',
    says: 'No outage made a service say that it is not ready or not alive',
    breaches: await health.stop(),
  });
  const facts = await tellFacts(state, listeners);
  if (failovers > 0) {
    say(`${failovers} failovers of the database that lose commits`);
    // What a lost commit had deleted would come back, so nothing more is deleted.
    const { deletions } = workload;
    const afterwards = { ...state, workload: { ...(await createWorkload(world, random)), deletions } };
    strikes.push(...(await loseCommits(afterwards, { times: failovers, random })));
    verdicts.push(...(await checkFilledAgain(afterwards, (check) => lasting(check, Date.now() + SWEEPERS_MS))));
    say('the broker loses records');
    const holes = await loseRecords(afterwards, { times: failovers, random });
    strikes.push(...holes.strikes);
    verdicts.push(await checkAlarms(afterwards, holes, (check) => lasting(check, Date.now() + SWEEPERS_MS)));
  }
  if (isLong) verdicts.push(enoughOf(strikes));
  if (failovers > 0) await resumeRetention();
  say('looking at days to come');
  verdicts.push({ ...retention, breaches: await retention.check(state) });
  await stores.close();
  failed = writeReport(
    {
      seed,
      minutes,
      strikes,
      verdicts,
      creates: workload.creates,
      facts,
      older: world.older,
      alone: isAlone ? only[0] : undefined,
    },
    process.argv[2],
  );
} catch (error) {
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  console.error(`faults     seed ${seed}: ${said}`);
  if (process.argv[2]) writeCounts(process.argv[2], [{ name: `faults of seed ${seed}`, reasons: [said] }]);
} finally {
  await world.close();
}
say('done');
process.exit(failed ? 1 : 0);

/** Owners look after their endpoints all the time, and give some up when half of the time is over. */
async function whileOwnersAct(listeners: Listeners, work: () => Promise<Strike[]>): Promise<Strike[]> {
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      // What fails now is tried again.
      await listeners.lookAfter().catch(() => undefined);
      await delay(OWNERS_PAUSE_MS);
    }
  })();
  const leaving = delay(minutes * 30_000).then(listeners.leave);
  const strikes = await work().finally(() => over.abort());
  await Promise.all([looking, leaving]);
  return strikes;
}

/** Faults that struck less often than they have to in a long run, and how often. */
function fewOf(wanted: readonly string[], strikes: readonly Strike[]): Map<string, number> {
  const times = timesOf(wanted, strikes);
  return new Map(wanted.map((name) => [name, times.get(name) ?? 0] as const).filter(([, n]) => n < LEAST_TIMES));
}

/** A fault that hardly ever struck has shown nothing. */
function enoughOf(strikes: readonly Strike[]): Verdict {
  const breaches = [...fewOf([...only, FAILOVER, HOLE], strikes)].map(([name, times]) => `${name}: ${times}`);
  return { id: 'faults', says: `Every fault struck at least ${LEAST_TIMES} times`, breaches };
}
