import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clean } from '../../deploy/local/clean.ts';
import { stopAll } from '../../deploy/local/down.ts';
import { installMissing } from '../../deploy/local/host-programs.ts';
import type { Infrastructure } from '../../deploy/local/infrastructure.ts';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import type { Launch, ServiceName } from '../../deploy/local/service-environment.ts';
import { migrate } from '../../deploy/local/services.ts';
import { portOf } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { bringUpForRun } from '../../deploy/local/up.ts';
import { startBalancer } from '../faults/world/balancer.ts';
import type { Balancer } from '../faults/world/balancer.ts';
import { createMember } from './member.ts';
import type { Member } from './member.ts';
import { versions } from './stages.ts';
import type { Stage, Version } from './stages.ts';

/** The stores, and one process of each version of each service; one address for both versions. */
export interface World {
  settings: Settings;
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
  infrastructure: Infrastructure;
  /** Brings every database to the schema of a version. */
  migrate: (version: Version) => Promise<void>;
  /** Starts what the stage needs, gives it to callers, then stops the rest. */
  enter: (stage: Stage) => Promise<void>;
  /** The processes of a stage. */
  membersOf: (stage: Stage) => Member[];
  close: () => Promise<void>;
}

/** Beyond the usual: small enough for two processes of each service, and audits that look soon. */
const settingsOfServices = {
  NODE_ENV: 'test',
  // Nobody looks at it here, and the last release has none built.
  CONSOLE: 'false',
  DATABASE_POOL: '6',
  DETECT_THREADS: '1',
  SAMPLE_FPS: '2',
  DECODE_MAX_SIDE: '160',
  // The crowd of the story asks for more than two workers have; for all else that it does there are places.
  JOBS_PER_WORKER: '4',
  LIVE_JOBS_PER_WORKER: '3',
  SUBMIT_TIMEOUT_MS: '15000',
  AUDIT_INTERVAL_MS: '1000',
  AUDIT_AGE_MS: '20000',
  // The audit of stored videos looks at them when no upload can still be under way.
  BODY_TOTAL_MS: '20000',
};

/** Frames go to the object store within the stage that asks for them, whichever process stored them. */
const atOnce = { SEGMENT_YOUNG_MS: '1000', SEGMENT_INTERVAL_MS: '200' };

const settingsOf: Record<Version, NodeJS.ProcessEnv> = {
  last: { ...atOnce, PUBLISH_SEGMENTS: 'true' },
  today: atOnce,
  settled: { ...atOnce, KAFKA_COMPRESSION: 'zstd' },
};

/** Where `clean` and `stopAll` find it. */
export const copyOf = (base: Settings): Settings => ({ ...base, localDir: join(base.localDir, 'beside') });

/** @param tree the checkout of the last release */
export async function startWorld(base: Settings, tree: string): Promise<World> {
  const copy = copyOf(base);
  await clean(copy);
  installMissing(['ffmpeg', 'bwrap']);
  const settings = await testSettings(copy, process.env);
  const infrastructure = await bringUpForRun(settings);
  const addresses = await startAddresses();
  const launches = launchesOf({ settings, infrastructure, addresses, tree });
  const members = new Map<string, Member>();
  for (const service of serviceNames) {
    for (const version of versions.filter((one) => isPartOf(one, service, tree))) {
      const name = `${service}-${version}`;
      members.set(name, createMember({ service, version, launch: launches(version, name) }));
    }
  }
  const membersOf = ({ runs }: Stage) =>
    serviceNames.flatMap((service) => runs[service].flatMap((version) => members.get(`${service}-${version}`) ?? []));
  return {
    settings,
    baseUrl: addresses.urlOf('gateway'),
    adminUrl: addresses.urlOf('admin'),
    adminToken: infrastructure.secrets.ADMIN_TOKEN,
    infrastructure,
    migrate: async (version) => {
      // One after the other: each takes the machine for a second.
      for (const service of serviceNames.filter((name) => isPartOf(version, name, tree)))
        await migrate(launches(version, `${service}-${version}`), service);
    },
    membersOf,
    enter: async (stage) => {
      const wanted = membersOf(stage);
      await Promise.all(wanted.map((member) => member.start()));
      addresses.lead(wanted);
      const others = [...members.values()].filter((member) => !wanted.includes(member));
      await Promise.all(others.map((member) => member.stop()));
    },
    close: async () => {
      await stopAll(settings);
      await addresses.close();
    },
  };
}

/** Whether a version has the service; the last release may be older than it. */
const isPartOf = (version: Version, service: ServiceName, tree: string) =>
  version !== 'last' || existsSync(join(tree, 'services', service, 'src/main.ts'));

interface Addresses {
  urlOf: (name: ServiceName | 'admin') => string;
  /** From now on new connections go to these. */
  lead: (members: readonly Member[]) => void;
  close: () => Promise<void>;
}

async function startAddresses(): Promise<Addresses> {
  const names = [...serviceNames, 'admin' as const];
  const ports = new Map(names.map((name) => [name, [] as number[]]));
  const balancers = new Map<string, Balancer>();
  for (const [name, own] of ports) balancers.set(name, await startBalancer(own));
  return {
    urlOf: (name) => balancers.get(name)?.url ?? '',
    lead: (members) => {
      for (const [name, own] of ports) {
        const service = name === 'admin' ? 'gateway' : name;
        const those = members.filter((member) => member.service === service);
        own.splice(0, own.length, ...those.map((member) => portOf(member.ports, name)));
      }
    },
    close: async () => {
      await Promise.all([...balancers.values()].map((balancer) => balancer.close()));
    },
  };
}

interface Parts {
  settings: Settings;
  infrastructure: Infrastructure;
  addresses: Addresses;
  tree: string;
}

function launchesOf({ settings, infrastructure, addresses, tree }: Parts) {
  const neighbours = Object.fromEntries(
    (['tasks', 'images', 'results', 'quota', 'notify'] as const).map((name) => [
      `${name.toUpperCase()}_URL`,
      addresses.urlOf(name),
    ]),
  );
  const shared = {
    ...process.env,
    ...settingsOfServices,
    CLOCK_OFFSET: clockOffset(new Date()),
    INFERENCE_URL: addresses.urlOf('inference'),
  };
  return (version: Version, name: string): Launch => ({
    settings,
    infrastructure,
    env: { ...shared, ...settingsOf[version], WORK_DIR: join(settings.localDir, 'work', name) },
    replica: { name, portBase: settings.portBase + portBlocks[version], neighbours },
    hastened: true,
    ...(version === 'last' ? { tree } : {}),
  });
}

/**
 * Distances from the first port of the copy, beyond those of `deploy/local/settings.ts`. The ports of services are ten
 * apart, so those of the third version lie between those of the second.
 */
const portBlocks: Record<Version, number> = { last: 70, today: 130, settled: 135 };

/** The day of the quota ends at 16:00 UTC: a run that would see it moves to the next day before it begins. */
export function clockOffset(now: Date): string {
  return now.getUTCHours() >= 14 && now.getUTCHours() < 16 ? '3 hours' : '0 seconds';
}
