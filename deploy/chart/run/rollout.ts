import { setTimeout as delay } from 'node:timers/promises';
import { serviceNames } from '../../local/service-environment.ts';
import type { Settings } from '../../local/settings.ts';
import { say } from '../../local/settings.ts';
import { answersOk, becomesTrue } from '../../local/wait.ts';
import { podOf } from '../manifests.ts';
import type { Manifest, PodSpec } from '../manifests.ts';
import { startPod, stopPod } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { setEndpoint } from './proxy.ts';
import { portsOf } from './values.ts';
import type { Slot } from './values.ts';

/** The Deployments of a release, as pods in one of the two slots of each component. */
export interface Rollout {
  settings: Settings;
  cluster: Cluster;
  manifests: Manifest[];
}

/** Time until everybody has heard that a pod is ready, or about to go. */
const ENDPOINTS_MS = 1_000;

/** Starts one pod of each component, and waits until all are ready. */
export async function startAll(rollout: Rollout, slot: Slot): Promise<void> {
  const names = serviceNames.filter((name) => has(rollout, name));
  for (const name of names) await start(rollout, name, slot);
  for (const name of names) await ready(rollout, name, slot);
  await delay(ENDPOINTS_MS);
}

/**
 * Replaces the pods of `old` one component after the other, as a Deployment with maxSurge 1 and maxUnavailable 0 does:
 * the next one is ready before the last one is stopped.
 */
export async function replaceAll(old: Rollout, next: Rollout, to: Slot): Promise<void> {
  const from = to === 1 ? 2 : 1;
  for (const name of serviceNames) {
    if (has(next, name)) await addPod(next, name, to);
    if (has(old, name)) await drainPod(old, name, from);
  }
}

/** Adds a pod of a component beside the one in the other slot, as a Deployment that is scaled up does. */
export async function addPod(rollout: Rollout, name: string, slot: Slot): Promise<void> {
  await start(rollout, name, slot);
  await ready(rollout, name, slot);
  await setEndpoint(rollout.settings, name, slot, 'ready');
  await delay(ENDPOINTS_MS);
}

/**
 * Ends a pod as a kubelet does, at the end of a rollout or on a node that is drained: the pause of the pod begins while
 * the endpoints still spread the word, SIGTERM comes after it, and SIGKILL when the rest of the grace period is over.
 */
export async function drainPod({ settings, cluster, manifests }: Rollout, name: string, slot: Slot): Promise<void> {
  const pod = podNamed(manifests, name);
  const pause = pauseOf(pod);
  await delay(Math.min(ENDPOINTS_MS, 1000 * pause));
  await setEndpoint(settings, name, slot, 'drain');
  await delay(Math.max(0, 1000 * pause - ENDPOINTS_MS));
  const code = await stopPod(cluster, podName(name, slot), pod, pause);
  if (code !== 0) throw new Error(`${podName(name, slot)} ended with ${code}`);
}

async function start({ settings, cluster, manifests }: Rollout, name: string, slot: Slot): Promise<void> {
  const { http, health, admin } = portsOf(settings, name, slot);
  const ports = {
    HOST: '127.0.0.1',
    PORT: String(http),
    HEALTH_PORT: String(health),
    ...(name === 'gateway' ? { ADMIN_PORT: String(admin) } : {}),
  };
  await startPod(cluster, podName(name, slot), podNamed(manifests, name), ports);
}

async function ready({ settings, cluster }: Rollout, name: string, slot: Slot): Promise<void> {
  const url = `http://127.0.0.1:${portsOf(settings, name, slot).health}/health/ready`;
  if (!(await becomesTrue(() => answersOk(url), { timeoutMs: 400_000 }))) {
    throw new Error(`${podName(name, slot)} is not ready; its log is in ${cluster.dir}`);
  }
  say('ready', podName(name, slot));
}

/** Whether a release has the component: one of them came or went between the two. */
const has = ({ manifests }: Rollout, name: string) => deploymentOf(manifests, name) !== undefined;

const deploymentOf = (manifests: Manifest[], name: string) =>
  manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === `vision-${name}`);

function podNamed(manifests: Manifest[], name: string): PodSpec {
  const deployment = deploymentOf(manifests, name);
  const pod = deployment && podOf(deployment);
  if (!pod) throw new Error(`No Deployment of ${name}`);
  return pod;
}

function pauseOf(pod: PodSpec): number {
  const { lifecycle } = pod.containers[0] as { lifecycle?: { preStop?: { sleep?: { seconds: number } } } };
  return lifecycle?.preStop?.sleep?.seconds ?? 0;
}

export function podName(name: string, slot: Slot): string {
  return `chart-vision-${name}-${slot}`;
}
