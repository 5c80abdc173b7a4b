import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { installMissing } from '../local/host-programs.ts';
import { root } from '../local/settings.ts';

/** What makes and keeps images on this machine: a running Docker, else Debian's buildah and podman. */
export interface Engine {
  name: 'docker' | 'podman';
  /** The command before the folder to build from. */
  build: string[];
}

/** @throws Error when there is none and none may be installed. */
export function findEngine(): Engine {
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0)
    return { name: 'docker', build: ['docker', 'build'] };
  return podmanEngine();
}

/** Debian's buildah and podman, also beside other engines. */
export function podmanEngine(): Engine {
  installMissing(['buildah', 'podman', 'runc']);
  // Without a Docker engine, builds see the network of the machine. Only Docker's format knows a HEALTHCHECK.
  const flags = ['--format', 'docker', '--layers', '--isolation', 'chroot', '--network', 'host'];
  return { name: 'podman', build: ['buildah', 'bud', ...flags] };
}

/** What the machine needs to reach the package registry, as secrets of a build: they are in no layer of the image. */
export function registrySecrets(): string[] {
  const npmrc = join(homedir(), '.npmrc');
  const asked = spawnSync('npm', ['config', 'get', 'cafile'], { cwd: root, encoding: 'utf8' }).stdout.trim();
  const certificates = asked && asked !== 'null' ? asked : process.env['NODE_EXTRA_CA_CERTS'];
  return [
    ...(existsSync(npmrc) ? ['--secret', `id=npmrc,src=${npmrc}`] : []),
    ...(certificates && existsSync(certificates) ? ['--secret', `id=ca,src=${certificates}`] : []),
  ];
}

/** Runs a long command with its output in a file. @throws Error with the last lines of it. */
export async function runLogged([command = '', ...args]: string[], logFile: string): Promise<void> {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const code = await new Promise((done) => child.once('close', done).once('error', done));
  await new Promise((done) => log.end(done));
  if (code === 0) return;
  const last = readFileSync(logFile, 'utf8').trim().split('\n').slice(-15).join('\n');
  throw new Error(`${command} ${args[0] ?? ''} failed (${String(code)}); the end of ${logFile}:\n${last}`);
}

/** Output of a short command. @throws Error with what it said when it fails. */
export function output([command = '', ...args]: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return stdout.trim();
  throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed: ${(stderr || stdout || String(error)).trim()}`);
}

/** The commit that an image was built from; undefined when the image is not there. */
export function revisionOf(engine: Engine, image: string): string | undefined {
  const label = '{{index .Config.Labels "org.opencontainers.image.revision"}}';
  const asked = spawnSync(engine.name, ['image', 'inspect', '--format', label, image], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}

/** Bytes of an image on this machine, all layers unpacked; undefined when it is not there. */
export function imageSize(engine: Engine, image: string): number | undefined {
  const asked = spawnSync(engine.name, ['image', 'inspect', '--format', '{{.Size}}', image], { encoding: 'utf8' });
  return asked.status === 0 ? Number(asked.stdout) : undefined;
}
