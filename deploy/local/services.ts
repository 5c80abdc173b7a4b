import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureRunning, runningPid, startLog } from './background.ts';
import { ensureConsole } from './console.ts';
import { allOrFirstError } from './infrastructure.ts';
import { environmentOf, portsOf, serviceNames } from './service-environment.ts';
import type { Launch, ServiceName } from './service-environment.ts';
import { portOf, root, say, urlOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { answersOk } from './wait.ts';

const nodeFlags = ['--conditions=@vision/source'];
/** V8 keeps the pages of its young generation once it has used them: up to 128 MB at its own setting. */
const memoryFlags = ['--max-semi-space-size=8'];

/** Migrates and starts the services that do not run yet; returns those that exist when all of them are ready. */
export async function ensureServices(launch: Launch, names: readonly ServiceName[]): Promise<ServiceName[]> {
  const present = names.filter((name) => isPresent(name));
  const fresh = present.filter((name) => runningPid(launch.settings, name) === undefined);
  await allOrFirstError(fresh.map((name) => migrate(launch, name)));
  await allOrFirstError(present.map((name) => ensureService(launch, name)));
  return present;
}

/** Inference may be named by the environment. A service that does not exist yet is left out with a message. */
export function wantedServices(env: NodeJS.ProcessEnv, settings: Settings): ServiceName[] {
  const ownUrl = urlOf(settings, 'inference');
  const elsewhere = env['INFERENCE_URL'] && env['INFERENCE_URL'] !== ownUrl;
  return serviceNames.filter((name) => name !== 'inference' || !elsewhere);
}

function isPresent(name: ServiceName): boolean {
  const present = existsSync(join(root, 'services', name, 'src/main.ts'));
  if (!present) say(name, 'skipped: it has no src/main.ts');
  return present;
}

/** Brings the database of a service up to date. */
export async function migrate(launch: Launch, name: ServiceName): Promise<void> {
  const log = startLog(launch.settings, `${name}-migrate`);
  const child = spawn(nodeOf(launch), [...nodeFlags, 'src/main.ts', 'migrate'], {
    cwd: join(launch.tree ?? root, 'services', name),
    env: environmentOf(launch, name),
    stdio: ['ignore', log.output, log.output],
  });
  const code = await new Promise((done) => child.once('close', done).once('error', done));
  log.close();
  if (code !== 0) throw new Error(`The migration of ${name} failed. The last lines of ${log.file}:\n${log.tail()}`);
}

/** Starts one process of a service unless it runs, and returns when it is ready. */
export async function ensureService(launch: Launch, name: ServiceName): Promise<void> {
  const ports = portsOf(launch);
  const health = urlOf(ports, `${name}Health`);
  if (name === 'gateway' && launch.tree === undefined) await ensureConsole();
  await ensureRunning(launch.settings, {
    name: launch.replica?.name ?? name,
    command: nodeOf(launch),
    args: [...nodeFlags, ...memoryFlags, '--import', './src/telemetry.ts', ...entryOf(launch, name)],
    port: portOf(ports, name),
    cwd: join(launch.tree ?? root, 'services', name),
    env: environmentOf(launch, name),
    fingerprint: fingerprintOf(launch, name),
    ready: () => answersOk(`${health}/health/ready`),
  });
}

const entryOf = ({ hastened, tree }: Launch, name: ServiceName) =>
  hastened === true ? [join(tree ?? root, 'test/support/main.ts'), name] : ['src/main.ts'];

/** Another checkout brings its own Node.js. */
const nodeOf = ({ tree }: Launch) => (tree === undefined ? process.execPath : join(tree, 'node_modules/.bin/node'));

/**
 * Changes with the variables that are decided here and the caller's values for them; the rest of the shell
 * does not count.
 */
function fingerprintOf(launch: Launch, name: ServiceName): string {
  const environment = environmentOf(launch, name);
  const own = Object.keys(environmentOf({ ...launch, env: {} }, name)).sort();
  const text = JSON.stringify(own.map((key) => [key, environment[key]]));
  return createHash('sha256').update(text).digest('hex');
}
