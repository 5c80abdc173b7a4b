import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, installMissing } from '../../../deploy/local/host-programs.ts';
import { mayInstall, say } from '../../../deploy/local/settings.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/**
 * Path of schemathesis. It is installed once for each list of requirements, into a Python environment of its own.
 * @throws Error with one sentence that says what is missing.
 */
export function installSchemathesis(cacheDir: string): string {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const home = join(cacheDir, `schemathesis-${version}`);
  const program = join(home, 'bin/schemathesis');
  if (existsSync(program)) return program;
  if (!mayInstall()) throw new Error('schemathesis is missing, and VISION_INSTALL=never forbids downloads.');
  installMissing(['python']);
  say('fuzz', 'installing schemathesis');
  mkdirSync(cacheDir, { recursive: true });
  // pip writes the program after everything that it needs, so what an interrupted run left is begun anew.
  rmSync(home, { recursive: true, force: true });
  run(findProgram('python') ?? 'python3', ['-m', 'venv', home]);
  run(join(home, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements]);
  return program;
}

function run(program: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  const said = `${stdout}${stderr}${error?.message ?? ''}`.trim().split('\n').slice(-3).join('\n');
  throw new Error(`schemathesis could not be installed by pip:\n${said}`);
}
