import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createObjectStore } from '@vision/objects/object-store';
import { until } from '@vision/shared/testing/until';
import { clean } from '../../deploy/local/clean.ts';
import { stopAll, stopOne } from '../../deploy/local/down.ts';
import { installMissing } from '../../deploy/local/host-programs.ts';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import type { ServiceName } from '../../deploy/local/service-environment.ts';
import { ensureServices } from '../../deploy/local/services.ts';
import { readSettings, urlOf } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { bringUpForRun } from '../../deploy/local/up.ts';
import { readMetrics } from '../support/metrics.ts';
import type { Sample } from '../support/metrics.ts';
import { createCopies } from './copies.ts';
import type { Copies } from './copies.ts';
import { settings } from './settings.ts';
import { createVisionctl } from './visionctl.ts';
import type { Visionctl } from './visionctl.ts';

/** A whole system of its own, whose databases can be set back one by one. */
export interface RestoreSystem {
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
  copies: Copies;
  stop: (service: ServiceName) => Promise<void>;
  /** Migrates and starts what does not run of these, or of all. */
  start: (services?: readonly ServiceName[]) => Promise<void>;
  visionctl: Visionctl;
  /** What the bucket holds for callers. */
  objects: () => Promise<string[]>;
  metrics: (service: ServiceName) => Promise<Sample[]>;
  close: () => Promise<void>;
}

export async function startRestoreSystem(): Promise<RestoreSystem> {
  const base = readSettings();
  const folder = { ...base, localDir: join(base.localDir, 'restore') };
  await clean(folder);
  const copy = await testSettings(folder, {});
  mkdirSync(copy.localDir, { recursive: true });
  installMissing(['ffmpeg', 'bwrap']);
  const infrastructure = await bringUpForRun(copy);
  const store = createObjectStore(infrastructure.objectStore);
  const launch = { settings: copy, infrastructure, env: { ...process.env, ...settings }, hastened: true };
  const start = async (services: readonly ServiceName[] = serviceNames) => {
    await ensureServices(launch, services);
  };
  try {
    await start();
  } catch (error) {
    await stopAll(copy);
    throw error;
  }
  return {
    baseUrl: urlOf(copy, 'gateway'),
    adminUrl: urlOf(copy, 'admin'),
    adminToken: infrastructure.secrets.ADMIN_TOKEN,
    copies: createCopies(infrastructure.databaseUrl, join(copy.localDir, 'copies')),
    stop: (service) => stopOne(copy, service),
    start,
    visionctl: createVisionctl({
      ADMIN_URL: urlOf(copy, 'admin'),
      ADMIN_TOKEN: infrastructure.secrets.ADMIN_TOKEN,
      VISION_LOCAL_DIR: copy.localDir,
    }),
    objects: async () => {
      const keys: string[] = [];
      for (const kind of ['videos/', 'pictures/', 'segments/'])
        for await (const { key } of store.list(kind)) keys.push(key);
      return keys;
    },
    metrics: async (service) => {
      const answer = await fetch(`${urlOf(copy, `${service}Health`)}/metrics`);
      return readMetrics(await answer.text()).samples;
    },
    close: async () => {
      store.close();
      await stopAll(copy);
    },
  };
}

/** Resolves when these loops of a service have succeeded so many times more. */
export async function roundsOf(
  { metrics }: RestoreSystem,
  service: ServiceName,
  { loops, rounds }: { loops: readonly string[]; rounds: number },
): Promise<void> {
  const seen = new Map(loops.map((loop) => [loop, { age: Infinity, rounds: -1 }]));
  const ask = async () => {
    for (const { name, labels, value } of await metrics(service)) {
      const known = name === 'vision_loop_last_success_seconds' ? seen.get(labels['loop'] ?? '') : undefined;
      if (!known) continue;
      if (value < known.age) known.rounds += 1;
      known.age = value;
    }
    return [...seen.values()].every((known) => known.rounds >= rounds);
  };
  await until(ask, { timeoutMs: 120_000, intervalMs: 100 });
}
