/**
 * `make chart-run`: what the chart renders, run for real under podman against host programs. Jobs become containers
 * that have to end well, Deployments one container each on ports that values give, HAProxy stands for the Services.
 * Needs root and the images (`make images`); IMAGE_TAG names them, NEXT_TAG those of the rolling upgrade.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { stopAll } from '../../local/down.ts';
import { installMissing } from '../../local/host-programs.ts';
import { withLock } from '../../local/lock.ts';
import { serviceNames } from '../../local/service-environment.ts';
import { readSettings, say } from '../../local/settings.ts';
import { bringUpInfrastructure } from '../../local/up.ts';
import { becomesTrue, answersOk } from '../../local/wait.ts';
import { chartDir } from '../examples.ts';
import { parseManifests, podOf } from '../manifests.ts';
import type { Manifest, PodSpec } from '../manifests.ts';
import { ensureTools, run } from '../tools.ts';
import { endOf, heldInside, removePod, startPod, stopPod, storedIn } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { startLoad } from './load.ts';
import { startProxy } from './proxy.ts';
import { portsOf, runValues, storeSecret } from './values.ts';

const settings = { ...readSettings(), localDir: join(readSettings().localDir, 'chart'), traces: false };
const tag = process.env['IMAGE_TAG'] || 'local';
const nextTag = process.env['NEXT_TAG'] || tag;
const started = new Set<string>();
let proxy: ChildProcess | undefined;

try {
  await withLock(settings, everything);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  for (const name of started) removePod(name);
  proxy?.kill();
  await withLock(settings, () => stopAll(settings));
}

async function everything(): Promise<void> {
  installMissing(['podman', 'haproxy']);
  const { helm } = ensureTools();
  const dir = join(settings.localDir, 'pods');
  mkdirSync(dir, { recursive: true });
  const infrastructure = await bringUpInfrastructure(settings, {});
  const render = (imageTag: string) => {
    const file = join(dir, 'values.yaml');
    writeFileSync(file, stringify(runValues(settings, infrastructure, imageTag)));
    return parseManifests(run(helm, ['template', 'vision', chartDir, '--kube-version', '1.33.0', '--values', file]));
  };
  const manifests = render(tag);
  const hosts = [...serviceNames, 'gateway-admin'].map((name) => `vision-${name}`);
  const cluster: Cluster = { dir, hosts, stored: { ...storedIn(manifests), ...storeSecret(settings, infrastructure) } };

  runJobs(cluster, manifests);
  proxy = startProxy(settings, dir);
  for (const name of serviceNames) start(cluster, name, 1, podNamed(manifests, name));
  for (const name of serviceNames) await ready(name, 1);
  const against = serviceNames.flatMap((name) => heldInside(podName(name, 1)));
  if (against.length > 0) throw new Error(against.join('\n'));
  say('inside', 'user, capabilities, seccomp, privileges and root are as the chart says');
  smoke(cluster, manifests);
  await roll(cluster, render(nextTag));
  smoke(cluster, manifests);
}

/** In the order of their weights, as Helm does. */
function runJobs(cluster: Cluster, manifests: Manifest[]): void {
  const weight = ({ metadata }: Manifest) => Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0);
  const jobs = manifests.filter(({ kind }) => kind === 'Job').sort((a, b) => weight(a) - weight(b));
  for (const job of jobs) runToEnd(cluster, job);
}

function smoke(cluster: Cluster, manifests: Manifest[]): void {
  for (const test of manifests.filter(({ kind }) => kind === 'Pod')) runToEnd(cluster, test);
}

function runToEnd(cluster: Cluster, manifest: Manifest): void {
  const pod = podOf(manifest);
  if (!pod) return;
  const name = `chart-${manifest.metadata.name}`;
  started.add(name);
  startPod(cluster, name, pod);
  const { code, output } = endOf(name);
  removePod(name);
  if (code !== 0) throw new Error(`${manifest.metadata.name} ended with ${code}:\n${output}`);
  say(manifest.kind.toLowerCase(), `${manifest.metadata.name}: ${output.split('\n').at(-1) ?? ''}`);
}

/** Replaces every pod under load: the next one is ready before the last one is told to go. */
async function roll(cluster: Cluster, manifests: Manifest[]): Promise<void> {
  const load = startLoad(`http://127.0.0.1:${portsOf(settings, 'gateway', 0).http}`, await newKey(cluster));
  await delay(5_000);
  for (const name of serviceNames) {
    const pod = podNamed(manifests, name);
    start(cluster, name, 2, pod);
    await ready(name, 2);
    await delay(1_500);
    const pause = pauseOf(pod);
    await delay(1000 * pause);
    const code = stopPod(podName(name, 1), pod, pause);
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
  }
  await delay(3_000);
  const { requests, failed } = await load.stop();
  say('upgrade', `${requests} requests while every pod was replaced, ${failed.length} failed`);
  if (failed.length > 0) throw new Error(failed.slice(0, 10).join('\n'));
}

/** A key of a subject that the daily quota does not stop. */
async function newKey(cluster: Cluster): Promise<string> {
  const token = cluster.stored['vision-generated-secrets']?.['admin-token'];
  if (typeof token !== 'string') throw new Error('The chart made no admin token.');
  const ask = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${portsOf(settings, 'gateway', 0).admin}/admin/v1${path}`;
    const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return reply.json();
  };
  const { key, subject } = (await ask('POST', '/keys', { name: 'rolling upgrade' })) as {
    key: string;
    subject: string;
  };
  await ask('PUT', `/subjects/${subject}/limits`, { images_per_day: 10_000 });
  return key;
}

function start(cluster: Cluster, name: string, slot: 1 | 2, pod: PodSpec): void {
  const { http, health, admin } = portsOf(settings, name, slot);
  const ports = {
    PORT: String(http),
    HEALTH_PORT: String(health),
    ...(name === 'gateway' ? { ADMIN_PORT: String(admin) } : {}),
  };
  started.add(podName(name, slot));
  startPod(cluster, podName(name, slot), pod, { HOST: '127.0.0.1', ...ports });
}

async function ready(name: string, slot: 1 | 2): Promise<void> {
  const url = `http://127.0.0.1:${portsOf(settings, name, slot).health}/health/ready`;
  if (!(await becomesTrue(() => answersOk(url), { timeoutMs: 180_000 }))) {
    throw new Error(`${podName(name, slot)} is not ready: podman logs ${podName(name, slot)}`);
  }
  say('ready', podName(name, slot));
}

function podNamed(manifests: Manifest[], name: string): PodSpec {
  const deployment = manifests.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `vision-${name}`,
  );
  const pod = deployment && podOf(deployment);
  if (!pod) throw new Error(`No Deployment of ${name}`);
  return pod;
}

function pauseOf(pod: PodSpec): number {
  const { lifecycle } = pod.containers[0] as { lifecycle?: { preStop?: { sleep?: { seconds: number } } } };
  return lifecycle?.preStop?.sleep?.seconds ?? 0;
}

function podName(name: string, slot: 1 | 2): string {
  return `chart-vision-${name}-${slot}`;
}
