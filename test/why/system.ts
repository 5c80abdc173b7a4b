import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { runningPid } from '../../deploy/local/background.ts';
import { clean } from '../../deploy/local/clean.ts';
import { stopAll } from '../../deploy/local/down.ts';
import type { Infrastructure } from '../../deploy/local/infrastructure.ts';
import { installMissing } from '../../deploy/local/host-programs.ts';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import type { Launch, ServiceName } from '../../deploy/local/service-environment.ts';
import { ensureService, migrate } from '../../deploy/local/services.ts';
import { portOf, readSettings, urlOf } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { bringUpForRun } from '../../deploy/local/up.ts';
import { startLateBackend } from './backend.ts';
import type { LateBackend } from './backend.ts';
import { startCollector } from './collector.ts';
import type { Collector } from './collector.ts';
import { scenesServedBy, startLateModelServer } from './model-server.ts';
import { limits, QUOTA_POOL, settings } from './settings.ts';

/** A system of its own, every part of which can be made late. */
export interface WhySystem {
  settings: Settings;
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
  collector: Collector;
  /** What the tasks service submits jobs to; the images service asks the real one. */
  backend: LateBackend;
  /** Between the tasks service and the object store. */
  store: FaultProxy;
  quotaDatabaseUrl: string;
  /** A frozen process keeps its connections and its port, and does nothing. */
  whileFrozen: <T>(service: ServiceName, work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export async function startWhySystem(): Promise<WhySystem> {
  const base = readSettings();
  const folder = { ...base, localDir: join(base.localDir, 'why') };
  await clean(folder);
  const copy = await testSettings(folder, {});
  mkdirSync(copy.localDir, { recursive: true });
  installMissing(['ffmpeg', 'bwrap']);
  const infrastructure = await bringUpForRun(copy);
  const s3 = new URL(infrastructure.objectStore.endpoint);
  const [collector, backend, modelServer, store] = await Promise.all([
    startCollector(),
    startLateBackend(),
    startLateModelServer(),
    startFaultProxy({ host: s3.hostname, port: Number(s3.port) }),
  ]);
  const scenesFile = await scenesServedBy(modelServer.url, limits.modelMs, copy.localDir);
  const env = { ...process.env, ...settings, SCENES_FILE: scenesFile };
  const common = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url };
  const launchOf = (service: ServiceName): Launch => ({
    settings: copy,
    infrastructure: service === 'tasks' ? withStoreAt(infrastructure, store.port) : infrastructure,
    env: { ...common, ...ownOf(service, { copy, backend }) },
    hastened: true,
  });
  try {
    await Promise.all(serviceNames.map((name) => migrate(launchOf(name), name)));
    await Promise.all(serviceNames.map((name) => ensureService(launchOf(name), name)));
  } catch (error) {
    await stopAll(copy);
    throw error;
  }
  const quotaDatabase = new URL(infrastructure.databaseUrl);
  quotaDatabase.pathname = '/vision_quota';
  return {
    settings: copy,
    baseUrl: urlOf(copy, 'gateway'),
    adminUrl: urlOf(copy, 'admin'),
    adminToken: infrastructure.secrets.ADMIN_TOKEN,
    collector,
    backend,
    store,
    quotaDatabaseUrl: quotaDatabase.href,
    whileFrozen: async (service, work) => {
      const pid = runningPid(copy, service);
      if (pid === undefined) throw new Error(`${service} does not run`);
      process.kill(pid, 'SIGSTOP');
      try {
        return await work();
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
    close: async () => {
      await stopAll(copy);
      await Promise.all([collector.close(), backend.close(), modelServer.close(), store.close()]);
    },
  };
}

function ownOf(service: ServiceName, { copy, backend }: { copy: Settings; backend: LateBackend }) {
  if (service === 'tasks') return { INFERENCE_URL: backend.url };
  if (service === 'quota') return { DATABASE_POOL: String(QUOTA_POOL) };
  return { INFERENCE_URL: `http://127.0.0.1:${portOf(copy, 'inference')}` };
}

function withStoreAt(infrastructure: Infrastructure, port: number): Infrastructure {
  const { objectStore } = infrastructure;
  return { ...infrastructure, objectStore: { ...objectStore, endpoint: `http://127.0.0.1:${port}` } };
}
