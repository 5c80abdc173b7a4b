import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid, startedPrograms } from './background.ts';
import { installMissing } from './host-programs.ts';
import { addressesOf } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import { writeEnvFile } from './secrets.ts';
import { offsets, portOf, say } from './settings.ts';
import type { Settings } from './settings.ts';
import { bringUpInfrastructure, bringUpSystem } from './up.ts';
import type { Variables } from './up.ts';
import { isPortFree } from './wait.ts';

/**
 * The second copy, on which tests run: inside this copy's folder and on a block of ports of its own. While it runs it
 * keeps its block; otherwise it takes the first one that is free, so that several checkouts can be tested at once.
 */
export async function testSettings(settings: Settings, env: NodeJS.ProcessEnv): Promise<Settings> {
  const localDir = join(settings.localDir, 'test');
  const file = join(localDir, 'port-base');
  const copy = (portBase: number): Settings => ({
    ...settings,
    localDir,
    portBase,
    observe: false,
    isThrowaway: true,
  });
  const fixed = Number(env['VISION_TEST_PORT_BASE'] || 0);
  if (fixed > 0) return copy(fixed);
  const kept = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const runs = startedPrograms(copy(kept)).some((name) => runningPid(copy(kept), name) !== undefined);
  const portBase = runs ? kept : await firstFreeBlock(kept || 18_080);
  mkdirSync(localDir, { recursive: true });
  writeFileSync(file, String(portBase));
  return copy(portBase);
}

async function firstFreeBlock(preferred: number): Promise<number> {
  const candidates = [preferred, ...Array.from({ length: 50 }, (_, index) => 18_080 + index * 200)];
  for (const base of candidates) {
    const free = await Promise.all(Object.values(offsets).map((offset) => isPortFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new Error('No free block of ports for the tests; set VISION_TEST_PORT_BASE.');
}

/** The infrastructure that integration tests run on. Returns what they read. */
export async function startTestInfrastructure(copy: Settings): Promise<Variables> {
  // Tests of inference run what its service runs.
  installMissing(['ffmpeg', 'bwrap']);
  const infrastructure = await bringUpInfrastructure(copy, {});
  return announce(copy, testVariables(infrastructure));
}

/**
 * The whole system for end-to-end tests, never on infrastructure that the environment names. Returns what they read.
 */
export async function startTestSystem(copy: Settings, env: NodeJS.ProcessEnv): Promise<Variables> {
  // A test answers for the host names of streams; no other name server is queried.
  const names = { STREAM_DNS_SERVERS: `127.0.0.1:${portOf(copy, 'names')}` };
  const { infrastructure, variables } = await bringUpSystem(copy, { ...withoutAddresses(env), ...names });
  return announce(copy, { ...testVariables(infrastructure), ...variables, ...names });
}

/** A shell reads the file with `source`, so its lines export. */
function announce(copy: Settings, variables: Variables): Variables {
  const file = join(copy.localDir, 'env');
  writeEnvFile(file, variables, 'export ');
  say('tests', `read their addresses from ${file}`);
  return variables;
}

/** Named apart from the addresses of a running system, so that a shell which has both never mixes them. */
function testVariables(infrastructure: Infrastructure): Variables {
  return Object.fromEntries(
    Object.entries(addressesOf(infrastructure)).map(([name, value]) => [`TEST_${name}`, value]),
  );
}

function withoutAddresses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const addresses = /^(DATABASE_URL|REDIS_URL|KAFKA_BROKERS|S3_.*|INFERENCE_URL|INFERENCE_TOKEN)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !addresses.test(name)));
}
