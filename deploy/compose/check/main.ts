/**
 * `make compose-check`: shows without Docker that docker-compose.yml starts a system that works. The images run under
 * podman as the file says; programs of this machine stand for Kafka, PostgreSQL, Redis and S3. Everything happens in
 * network namespaces of its own. Needs root, Linux, and the images of `make images`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageSize, output } from '../../images/engine.ts';
import { installMissing } from '../../local/host-programs.ts';
import { jarsOf } from '../../local/jars.ts';
import { stopAll } from '../../local/down.ts';
import { readSettings, root, say } from '../../local/settings.ts';
import { readComposeFile } from '../compose-file.ts';
import { composeSecrets } from '../env.ts';

const started = Date.now();
const prefix = `vision-check-${process.pid}`;
const localDir = join(readSettings().localDir, 'compose-check');

try {
  process.exitCode = await check();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
say('check', `took ${Math.round((Date.now() - started) / 1000)} s`);

async function check(): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('This makes network namespaces and containers: it has to run as root.');
  installMissing(['podman', 'runc', 'ip', 'nft', 'postgres', 'redis', 'java', 'mvn', 'ffmpeg']);
  const settings = { ...readSettings(), localDir };
  await stopAll(settings);
  rmSync(localDir, { recursive: true, force: true });
  // The console is off until an operator turns it on; its files are in the image all the same.
  const secrets = { ...composeSecrets({}), CONSOLE: 'true' };
  mkdirSync(localDir, { recursive: true });
  writeFileSync(
    join(localDir, 'env'),
    Object.entries(secrets)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    {
      mode: 0o600,
    },
  );
  requireImages(secrets);
  // Inside, nothing can be downloaded.
  for (const part of ['kafka', 's3']) jarsOf(settings, part);
  output(['ip', 'netns', 'add', prefix]);
  try {
    return await insideNamespace();
  } finally {
    output(['ip', 'netns', 'delete', prefix]);
  }
}

function requireImages(variables: Record<string, string>): void {
  const { services } = readComposeFile(join(root, 'docker-compose.yml'), variables);
  const ours = new Set(
    Object.values(services)
      .map(({ image }) => image)
      .filter((image) => image.startsWith('vision/')),
  );
  const podman = { name: 'podman' as const, build: [] };
  const missing = [...ours].filter((image) => imageSize(podman, image) === undefined);
  if (missing.length > 0) throw new Error(`Podman has no ${missing.join(', ')}: "make images" builds them.`);
}

async function insideNamespace(): Promise<number> {
  const script = join(import.meta.dirname, 'run.ts');
  const args = [`--net=/run/netns/${prefix}`, process.execPath, ...process.execArgv, script, prefix, localDir];
  const child = spawn('nsenter', args, { cwd: root, stdio: 'inherit' });
  // Ctrl-C reaches it by the terminal; it stops what it started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
  return new Promise((done) => child.once('exit', (code) => done(code ?? 1)).once('error', () => done(1)));
}
