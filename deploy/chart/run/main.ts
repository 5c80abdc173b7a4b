/**
 * `make chart-run`: what the chart renders, run for real under podman against host programs. Jobs become containers
 * that have to end well, Deployments one container each on ports that values give, HAProxy stands for the Services. The
 * release before this one is installed, upgraded to this one under load, and rolled back; between, a pod of inference
 * is drained under live streams. `ONLY=drain` installs this release alone for that. Needs root and the images of
 * `make images` (IMAGE_TAG names others, RELEASE the folder of a release, which is then pushed to a registry on
 * loopback and run from there); those of the release before are built when they are not there.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stopAll } from '../../local/down.ts';
import { installMissing } from '../../local/host-programs.ts';
import { withLock } from '../../local/lock.ts';
import { serviceNames } from '../../local/service-environment.ts';
import { readSettings, root, say } from '../../local/settings.ts';
import { bringUpInfrastructure } from '../../local/up.ts';
import { parseManifests, podOf } from '../manifests.ts';
import type { Manifest } from '../manifests.ts';
import { ensureTools } from '../tools.ts';
import { endOf, removePod, startPod, storedIn } from './cluster.ts';
import type { Cluster, Stored } from './cluster.ts';
import { drainUnderStreams } from './drain.ts';
import { lookInside } from './inside.ts';
import { newKey } from './key.ts';
import { startLoad } from './load.ts';
import { ensureImages, unpackPrevious } from './previous.ts';
import type { PreviousRelease } from './previous.ts';
import { startProxy } from './proxy.ts';
import { renderRun } from './render.ts';
import { addPod, drainPod, replaceAll, startAll } from './rollout.ts';
import type { Rollout } from './rollout.ts';
import { sourceOf, thisSource } from './source.ts';
import type { RunSource } from './source.ts';
import { portsOf, runValues, storeSecret } from './values.ts';

const settings = { ...readSettings(), localDir: join(readSettings().localDir, 'chart'), observe: false };
const dir = join(settings.localDir, 'pods');
const parts = (process.env['ONLY'] || 'upgrade,drain').split(',');
const began = Date.now();
/** Set once something may be running. */
let cleanUp = async (): Promise<void> => undefined;
let proxy: ChildProcess | undefined;

try {
  // From nothing: the databases of an earlier run are those of a newer release.
  await stopAll(settings);
  rmSync(settings.localDir, { recursive: true, force: true });
  await withLock(settings, everything);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  proxy?.kill();
  await cleanUp();
  await withLock(settings, () => stopAll(settings));
}
say('took', `${Math.round((Date.now() - began) / 1000)} s`);

async function everything(): Promise<void> {
  installMissing(['podman', 'haproxy', 'ffmpeg']);
  mkdirSync(dir, { recursive: true });
  const release = unpackPrevious(dir);
  if (parts.includes('upgrade')) await ensureImages(release);
  const { old, next } = await bothReleases(release);
  cleanUp = async () => {
    for (const name of next.cluster.started) {
      // The stores have to be stopped all the same.
      await removePod(next.cluster, name).catch((error: unknown) => console.error(error));
    }
  };
  proxy = await startProxy(settings, dir);
  if (parts.includes('upgrade')) await upgraded(release, old, next);
  else await installed(next);
  if (parts.includes('drain')) {
    await drainUnderStreams(next, 2, join(root, 'examples/street.mp4'));
    // Back where it was.
    await addPod(next, 'inference', 2);
    await drainPod(next, 'inference', 1);
  }
  if (!parts.includes('upgrade')) return;
  // `helm rollback` runs no job: its hooks are those of installations and upgrades.
  await underLoad(next, `back to ${release.version}`, () => replaceAll(next, old, 1));
  await smoke(old);
}

/** The release before, and this one in its place under load. */
async function upgraded(release: PreviousRelease, old: Rollout, next: Rollout): Promise<void> {
  await runJobs(old.cluster, old.manifests);
  await startAll(old, 1);
  await smoke(old);
  await underLoad(next, `from ${release.version} to this one`, async () => {
    await runJobs(next.cluster, next.manifests);
    await replaceAll(old, next, 2);
  });
  await inspected(next);
}

/** This release alone. */
async function installed(next: Rollout): Promise<void> {
  await runJobs(next.cluster, next.manifests);
  await startAll(next, 2);
  await inspected(next);
}

async function inspected(next: Rollout): Promise<void> {
  await lookInside(settings, 2);
  await smoke(next);
}

/** What each release renders for the stores of this machine, which are started here. */
async function bothReleases(release: PreviousRelease): Promise<{ old: Rollout; next: Rollout }> {
  const { helm } = ensureTools();
  const infrastructure = await bringUpInfrastructure(settings, {});
  const render = ({ chart, images, components }: RunSource) =>
    parseManifests(renderRun(helm, dir, chart, runValues(settings, images, components)));
  const before = parts.includes('upgrade') ? render(sourceOf(release)) : [];
  const today = render(await thisSource(settings, helm));
  const given = storeSecret(settings, infrastructure);
  const names = [...serviceNames, ...serviceNames.map((name) => `${name}-replicas`), 'gateway-admin'];
  const common = { dir, hosts: names.map((name) => `vision-${name}`), started: new Set<string>() };
  return {
    old: { settings, manifests: before, cluster: { ...common, stored: storedWith(given, before) } },
    next: { settings, manifests: today, cluster: { ...common, stored: storedWith(given, today, before) } },
  };
}

/** What Secrets and ConfigMaps hold. The chart keeps each key of a Secret that an earlier release made. */
function storedWith(given: Stored, manifests: Manifest[], earlier: Manifest[] = []): Stored {
  const stored = storedIn(manifests);
  for (const [name, kept] of Object.entries(storedIn(earlier.filter(({ kind }) => kind === 'Secret')))) {
    stored[name] = { ...stored[name], ...kept };
  }
  return { ...stored, ...given };
}

/** In the order of their weights, as Helm does. */
async function runJobs(cluster: Cluster, manifests: Manifest[]): Promise<void> {
  const weight = ({ metadata }: Manifest) => Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0);
  const jobs = manifests.filter(({ kind }) => kind === 'Job').sort((a, b) => weight(a) - weight(b));
  for (const job of jobs) await runToEnd(cluster, job);
}

async function smoke({ cluster, manifests }: Rollout): Promise<void> {
  for (const test of manifests.filter(({ kind }) => kind === 'Pod')) await runToEnd(cluster, test);
}

async function runToEnd(cluster: Cluster, manifest: Manifest): Promise<void> {
  const pod = podOf(manifest);
  if (!pod) return;
  const name = `chart-${manifest.metadata.name}`;
  await startPod(cluster, name, pod);
  const { code, output } = await endOf(name);
  await removePod(cluster, name);
  if (code !== 0) throw new Error(`${manifest.metadata.name} ended with ${code}:\n${output}`);
  say(manifest.kind.toLowerCase(), `${manifest.metadata.name}: ${output.split('\n').at(-1) ?? ''}`);
}

/** @throws Error naming the first requests that failed meanwhile. */
async function underLoad({ cluster }: Rollout, what: string, work: () => Promise<void>): Promise<void> {
  const { http, admin } = portsOf(settings, 'gateway', 0);
  const load = startLoad(`http://127.0.0.1:${http}`, await newKey(`http://127.0.0.1:${admin}`, cluster));
  await delay(5_000);
  const worked = await work().catch((error: unknown) => error);
  await delay(3_000);
  const { requests, videos, failed } = await load.stop();
  say('rolled', `${what}: ${requests} requests and ${videos} videos meanwhile, ${failed.length} failed`);
  if (failed.length > 0) throw new Error(failed.slice(0, 10).join('\n'));
  if (worked instanceof Error) throw worked;
}
