import { until } from '@vision/shared/testing/until';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import type { ServiceName } from '../../deploy/local/service-environment.ts';
import type { Caller } from '../support/system.ts';
import { followAll } from '../support/video.ts';
import { fill, isRestored, isServed, isTold, missing, noteAll, sweep, sweepers } from './checks.ts';
import type { Filled, Sweeper } from './checks.ts';
import type { RestoreSystem } from './system.ts';
import type { CommandOutcome } from './visionctl.ts';

/** An instant that databases are set back to, and what callers had then. */
export interface Instant extends Filled {
  copies: ReadonlyMap<ServiceName, string>;
  /** What the bucket held. */
  objects: string[];
  /** Ids of the frames that the caller had read. */
  frames: string[];
  /** A key of the caller that is revoked after the instant. */
  revoked: Caller;
}

/** The order of docs/restore.md: no client calls a service that is not there. */
const START_ORDER = ['quota', 'inference', 'images', 'tasks', 'results', 'notify', 'gateway'] as const;
const SWEEPERS = Object.keys(sweepers) as Sweeper[];

/** Copies all databases while no service writes, so that they agree with each other. Then the key is revoked. */
export async function noteInstant(system: RestoreSystem, { caller, taskId }: Filled): Promise<Instant> {
  const revoked = await caller.anotherKey();
  const frames = await framesOf(caller, taskId);
  await stopAll(system);
  const objects = await system.objects();
  const copies = new Map<ServiceName, string>();
  for (const service of serviceNames) copies.set(service, await system.copies.take(service, 'older'));
  await system.start();
  await revoke(system, revoked);
  return { copies, objects, caller, taskId, frames, revoked };
}

/** Sets all databases back to the instant by the steps of docs/restore.md. Returns what was wrong. */
export async function restoreAll(system: RestoreSystem, instant: Instant): Promise<string[]> {
  const before = await system.objects();
  const found: string[] = [];
  const run = async (command: string) => void found.push(...faultOf(await system.visionctl(command)));
  await run('maintenance on --reason "restore of all databases"');
  await stopAll(system);
  for (const [service, copy] of instant.copies) await system.copies.restore(service, copy);
  // Those that the copy has no row of: an object leaves the list of results in the transaction that indexes it.
  await noteAll(
    system,
    before.filter((key) => !instant.objects.includes(key)),
  );
  for (const service of START_ORDER) await system.start([service]);
  await run('maintenance on --reason "restore of all databases"');
  await sweep(system);
  found.push(...(await missing(system, before)));
  for (const service of SWEEPERS) found.push(...(await isTold(system, service)));
  if ((await instant.revoked.get('/v1/vision/tasks')).status !== 200) found.push('a revoked key is not in force again');
  await revoke(system, instant.revoked);
  // What they publish and read agrees: nothing is left over but objects.
  found.push(...(await unlessWell(system)));
  for (const service of SWEEPERS) await run(`retention resume ${service} --reason "the instant is the newest"`);
  await run('maintenance off');
  await until(async () =>
    (await Promise.all(SWEEPERS.map((service) => isRestored(system, service)))).every((is) => !is),
  );
  await sweep(system);
  found.push(...(await missing(system, instant.objects)), ...(await isServed()));
  return [...found, ...(await unlessFilled(system, instant)), ...(await unlessWell(system))];
}

async function stopAll({ stop }: RestoreSystem): Promise<void> {
  for (const service of START_ORDER.toReversed()) await stop(service);
}

const framesOf = async (caller: Caller, taskId: string) =>
  (await followAll(caller, taskId)).map(({ frame_id: frameId }) => frameId);

async function revoke({ visionctl }: RestoreSystem, caller: Caller): Promise<void> {
  const [, keyId = ''] = /^vk_(.{16})/.exec(caller.key) ?? [];
  const [fault] = faultOf(await visionctl(`keys revoke ${keyId}`));
  if (fault !== undefined) throw new Error(fault);
  await until(async () => (await caller.get('/v1/vision/tasks')).status === 401);
}

/** The caller of the instant has what it had, and new work is done to its end. */
async function unlessFilled(system: RestoreSystem, { caller, taskId, frames }: Instant): Promise<string[]> {
  const now = await framesOf(caller, taskId).catch((error: unknown) => [String(error)]);
  await fill(system);
  return now.join() === frames.join() ? [] : [`in place of ${frames.length} frames of the instant: ${now.join()}`];
}

/** What docs/restore.md compares afterwards. It takes a while until consumers have read again what Kafka holds. */
async function unlessWell({ visionctl }: RestoreSystem): Promise<string[]> {
  const found: string[] = [];
  for (const command of ['lag', 'doctor', 'jobs unknown', 'audit --now', 'quota verify', 'bucket scan']) {
    let last = await visionctl(command);
    await until(
      async () => {
        if (isWell(command, last)) return true;
        last = await visionctl(command);
        return false;
      },
      { timeoutMs: 180_000, intervalMs: 1_000 },
    ).catch(() => found.push(last.says));
  }
  return found;
}

const isWell = (command: string, { exitCode, value }: CommandOutcome) =>
  exitCode === 0 && (command !== 'lag' || (value['items'] as { lag: number }[]).every(({ lag }) => lag === 0));

const faultOf = ({ exitCode, says }: CommandOutcome) => (exitCode === 0 ? [] : [says]);
