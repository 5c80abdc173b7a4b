import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { runningPid, stopProgram } from '../../../deploy/local/background.ts';
import { ensureService } from '../../../deploy/local/services.ts';
import type { Launch } from '../../../deploy/local/service-environment.ts';
import { portOf } from '../../../deploy/local/settings.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import { createProcessClock } from './clock.ts';
import type { ProcessClock } from './clock.ts';
import { portBlocks } from './ports.ts';
import { createStepTrap } from './steps.ts';
import type { StepTrap } from './steps.ts';

export const services = ['quota', 'notify', 'inference', 'tasks', 'images', 'results', 'gateway'] as const;
export type Service = (typeof services)[number];
export const stores = ['postgres', 'kafka', 's3', 'redis'] as const;
export type Store = (typeof stores)[number];

/** What the processes of each service talk to. */
export const storesOf: Record<Service, readonly Store[]> = {
  gateway: ['postgres', 'redis'],
  tasks: ['postgres', 'kafka', 's3'],
  images: ['postgres', 'kafka', 's3'],
  results: ['postgres', 'kafka', 's3'],
  quota: ['postgres', 'kafka'],
  notify: ['postgres', 'kafka'],
  inference: ['postgres', 'kafka', 's3'],
};

/** One of the two processes of a service. */
export interface Replica {
  name: string;
  service: Service;
  url: string;
  /** Its own way to each store. */
  links: ReadonlyMap<Store, FaultProxy>;
  clock: ProcessClock;
  trap: StepTrap;
  /** It was ready once and nobody has ended it since, so its health checks may say nothing else. */
  mustBeWell: () => boolean;
  healthUrl: string;
  /** Starts it unless it runs, again and again until it is ready. */
  start: (env?: NodeJS.ProcessEnv) => Promise<void>;
  /** From the next start on these are in place of what it has; what is not named stays. */
  setSecrets: (secrets: NodeJS.ProcessEnv) => void;
  signal: (signal: NodeJS.Signals) => void;
  /** Returns how long it took to end. */
  stop: () => Promise<number>;
}

/** Longest time in which a process may become ready while stores come and go. */
const START_MS = 180_000;
const STOP_MS = 60_000;

export interface ReplicaOptions {
  settings: Settings;
  service: Service;
  index: 0 | 1;
  links: ReadonlyMap<Store, FaultProxy>;
  /** With the addresses of the links; `env` is completed here. */
  launch: (name: string, portBase: number, secrets: NodeJS.ProcessEnv) => Launch;
  fakeTime: string | undefined;
}

export function portsOfReplica(settings: Settings, index: 0 | 1): Settings {
  return { ...settings, portBase: settings.portBase + portBlocks.replicas[index] };
}

export function createReplica(options: ReplicaOptions): Replica {
  const { settings, service, index, links } = options;
  const name = `${service}-${index + 1}`;
  const ports = portsOfReplica(settings, index);
  const folder = join(settings.localDir, 'replicas');
  const clock = createProcessClock(join(folder, `${name}.clock`), options.fakeTime);
  const trap = createStepTrap(join(folder, `${name}.step`));
  let wasReady = false;
  let starts = 0;
  let secrets: NodeJS.ProcessEnv = {};
  let env: NodeJS.ProcessEnv = { ...clock.env, ...trap.env };
  const startOnce = async () => {
    if (runningPid(settings, name) === undefined) keepLog(settings, name, (starts += 1));
    const launch = options.launch(name, ports.portBase, secrets);
    await ensureService({ ...launch, env: { ...launch.env, ...env } }, service);
  };
  return {
    name,
    service,
    links,
    clock,
    trap,
    mustBeWell: () => wasReady,
    url: `http://127.0.0.1:${portOf(ports, service)}`,
    healthUrl: `http://127.0.0.1:${portOf(ports, `${service}Health`)}`,
    setSecrets: (more) => {
      secrets = { ...secrets, ...more };
    },
    start: async (more = {}) => {
      env = { ...env, ...more };
      const deadline = Date.now() + START_MS;
      for (;;) {
        try {
          await startOnce();
          wasReady = true;
          return;
        } catch (error) {
          // A store may be away while it starts: whoever runs it starts it again.
          if (Date.now() > deadline) throw error;
        }
      }
    },
    signal: (signal) => {
      if (signal === 'SIGKILL') wasReady = false;
      const pid = runningPid(settings, name);
      if (pid !== undefined) process.kill(pid, signal);
    },
    stop: async () => {
      wasReady = false;
      const from = Date.now();
      await stopProgram(settings, name, 'SIGTERM', STOP_MS);
      return Date.now() - from;
    },
  };
}

/** Every process leaves its log behind: invariants read all of them. */
function keepLog({ localDir }: Settings, name: string, start: number): void {
  const file = join(localDir, 'log', `${name}.log`);
  if (existsSync(file)) renameSync(file, join(localDir, 'log', `${name}.${start}.log`));
}
