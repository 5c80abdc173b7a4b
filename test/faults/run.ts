/**
 * `make faults SEED=1 MINUTES=2`: breaks a running system in seeded ways and checks what must hold afterwards.
 * The seed fixes the choices; their timing depends on the machine. An argument names a file for the counts of
 * held and breached invariants.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { readSettings } from '../../deploy/local/settings.ts';
import { createDraw } from './nemesis.ts';
import type { Fault } from './nemesis.ts';
import { seeded } from './random.ts';
import { writeReport } from './report.ts';
import type { Verdict } from './report.ts';
import { openStores } from './stores.ts';
import { startWorld } from './world.ts';
import type { World } from './world.ts';

const seed = Number(process.env['SEED'] ?? 1);
const minutes = Number(process.env['MINUTES'] ?? 0.5);
const CLIENTS = 4;
/** By then every sweeper has passed twice, with the settings below. */
const SWEEPERS_MS = 150_000;

/** Ordinary settings, short enough that recovery can be watched. */
const hastened = {
  LEASE_MS: '4000',
  KEY_WAIT_MS: '8000',
  STOP_WAIT_MS: '3000',
  SUBMIT_TIMEOUT_MS: '2000',
  BREAKER_RESET_MS: '1000',
  RECOVERY_MS: '500',
  RECOVERY_INTERVAL_MS: '1000',
  RECONCILE_MS: '500',
  RESULTS_GRACE_MS: '15000',
  VANISH_MS: '10000',
  SWEEP_INTERVAL_MS: '5000',
  ORPHAN_AGE_MS: '50000',
};

console.log(`faults     seed ${seed}, ${minutes} minutes`);
process.env['VISION_QUIET'] = '1';
const random = seeded(seed);
const world = await startWorld(readSettings(), random, hastened);
Object.assign(process.env, { BASE_URL: world.baseUrl, ADMIN_URL: world.adminUrl, ADMIN_TOKEN: world.adminToken });
// These read the addresses above when they are loaded.
const { createWorkload } = await import('./workload.ts');
const { invariants, retention } = await import('./invariants.ts');
const { settle, stopEverything } = await import('./settle.ts');

const unwell: string[] = [];
let failed = true;
try {
  const workload = await createWorkload(world, random);
  const stores = openStores(world);
  const faults = await breakThings(() => workload.act());
  console.log(`faults     ${faults.length} faults over ${workload.creates.length} creates; healing`);
  await heal();
  const state = { world, workload, stores };
  await settle(state);
  console.log('faults     quiet; repeating every create');
  const verdicts: Verdict[] = [];
  const [converge, ...others] = [
    ...invariants.filter(({ id }) => id === 'I12'),
    ...invariants.filter(({ id }) => id !== 'I12'),
  ];
  if (converge) verdicts.push({ ...converge, breaches: await converge.check(state) });
  await settle(state);
  console.log('faults     stopping what runs');
  await stopEverything(state);
  await settle(state);
  console.log('faults     checking');
  const patience = Date.now() + SWEEPERS_MS;
  for (const invariant of others) {
    verdicts.push({ ...invariant, breaches: await lasting(() => invariant.check(state), patience) });
  }
  verdicts.push({
    id: 'health',
    says: 'No outage made a service say that it is not ready or not alive',
    breaches: unwell,
  });
  console.log('faults     looking at days to come');
  verdicts.push({ ...retention, breaches: await retention.check(state) });
  await stores.close();
  failed = writeReport({ seed, minutes, faults, verdicts, creates: workload.creates }, process.argv[2]);
} catch (error) {
  console.error(`faults     seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await world.close();
}
process.exit(failed ? 1 : 0);

/** Clients act all the time; one fault after the other begins and ends. Returns the names of the faults. */
async function breakThings(act: () => Promise<void>): Promise<string[]> {
  const draw = createDraw(random);
  const names: string[] = [];
  const until = Date.now() + minutes * 60_000;
  const isOver = () => Date.now() >= until;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver()) {
      await act();
      await delay(random() * 150);
    }
  });
  while (!isOver()) {
    const fault = draw();
    names.push(fault.name);
    console.log(`faults     ${fault.name}`);
    await strike(world, fault);
  }
  await Promise.all(clients);
  return names;
}

async function strike(target: World, fault: Fault): Promise<void> {
  const end = fault.begin(target);
  await delay(500 + random() * 2_500);
  unwell.push(...(await target.unwell()).map((found) => `${found} during "${fault.name}"`));
  end?.();
  await target.restart();
  await delay(random() * 700);
}

async function heal(): Promise<void> {
  for (const proxy of Object.values(world.proxies)) proxy.set({ kind: 'none' });
  world.backend.onSubmit = () => 'accept';
  world.backend.onDetect = () => 'ok';
  await world.restart();
}

/** A breach that goes away within the time of the slowest sweeper is none; one that stays is. */
async function lasting(check: () => Promise<string[]> | string[], patience: number): Promise<string[]> {
  let breaches: string[] = [];
  const held = async () => {
    breaches = await check();
    return breaches.length === 0;
  };
  const timeoutMs = Math.max(0, patience - Date.now());
  await until(held, { timeoutMs, intervalMs: 1_000 }).catch(() => undefined);
  return breaches;
}
