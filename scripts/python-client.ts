/**
 * `make python-client`: compares the models of the Python client with the OpenAPI document, builds its wheel, and tests
 * what is in the wheel against the running system. With UPDATE=1 it writes the models anew. Python packages are
 * installed once for each list of requirements, into an environment of their own.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../deploy/local/host-programs.ts';
import { readSettings, root, say } from '../deploy/local/settings.ts';

const client = join(root, 'clients/python');
const requirements = join(client, 'requirements-dev.txt');
const models = join(client, 'src/vision_client/models.py');
const { cacheDir, localDir } = readSettings();
const resultsFile = process.argv[2];

const python = environment();
if (process.env['UPDATE']) run(python, [join(client, 'generate_models.py')]);
checkModels();
const wheel = buildWheel();
run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--force-reinstall', wheel]);
const report = join(localDir, 'python-client.xml');
const status = show(python, ['-m', 'pytest', '--quiet', `--junit-xml=${report}`, '--rootdir', client, client]);
if (resultsFile) writeFileSync(resultsFile, JSON.stringify(countsOf(readFileSync(report, 'utf8'))));
process.exitCode = status;

function environment(): string {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const home = join(cacheDir, `python-client-${version}`);
  const stamp = join(home, 'installed');
  const program = join(home, 'bin/python');
  if (existsSync(stamp)) return program;
  const system = findProgram('python');
  if (system === undefined) throw new Error('Python 3.10 or newer with venv is missing: install python3-venv.');
  say('python', 'installing what the client and its tests need');
  mkdirSync(cacheDir, { recursive: true });
  rmSync(home, { recursive: true, force: true });
  run(system, ['-m', 'venv', home]);
  run(program, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements]);
  writeFileSync(stamp, '');
  return program;
}

function checkModels(): void {
  const fresh = join(localDir, 'models.py');
  run(python, [join(client, 'generate_models.py'), fresh]);
  if (readFileSync(fresh, 'utf8') === readFileSync(models, 'utf8')) return;
  throw new Error('The models do not follow docs/openapi/public.json: run "make python-client UPDATE=1".');
}

function buildWheel(): string {
  const folder = join(localDir, 'python-wheel');
  rmSync(folder, { recursive: true, force: true });
  run(python, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', folder, client]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  // What Python calls a development release (PEP 440).
  const wheel = join(folder, `vision_client-${version.replace(/-dev$/, '.dev0')}-py3-none-any.whl`);
  if (!existsSync(wheel)) throw new Error(`The version in clients/python/pyproject.toml is not ${version}.`);
  return wheel;
}

function countsOf(xml: string): { numPassedTests: number; numFailedTests: number; numPendingTests: number } {
  const count = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  return { numPassedTests: count('tests') - failed - skipped, numFailedTests: failed, numPendingTests: skipped };
}

function show(program: string, args: string[]): number {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  return spawnSync(program, args, { cwd: localDir, env, stdio: 'inherit' }).status ?? 1;
}

function run(program: string, args: string[]): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: client, encoding: 'utf8' });
  if (status === 0) return;
  const lines = `${stdout}${stderr}${error?.message ?? ''}`.trim().split('\n').slice(-8).join('\n');
  throw new Error(`${program} ${args.join(' ')}\n${lines}`);
}
