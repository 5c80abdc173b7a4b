/**
 * `make fresh`: both commands of README on a bare Debian 12 and a bare Debian 13 as root, and on Debian 13 as a plain
 * user with the programs installed before. `ONLY=debian12,user` chooses runs, `COMMAND=demo` or `test` a command,
 * `STEPS="lint unit"` steps of the second. Prints the time of each command and what was installed; fails when one does.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installMissing } from '../../deploy/local/host-programs.ts';
import { outputOf } from '../../deploy/local/program.ts';
import { readSettings, root, say } from '../../deploy/local/settings.ts';
import { baseOf } from './base.ts';
import type { Debian } from './base.ts';
import { Machine } from './machine.ts';
import { copyUserRegistries } from './registries.ts';

interface Run {
  name: string;
  debian: Debian;
  user: 'root' | 'user';
}

const runs: Run[] = [
  { name: 'debian12', debian: 12, user: 'root' },
  { name: 'debian13', debian: 13, user: 'root' },
  { name: 'user', debian: 13, user: 'user' },
];

const env = process.env;
const only = (env['ONLY'] ?? '').split(',').filter(Boolean);
const unknown = only.filter((name) => !runs.some((run) => run.name === name));
if (unknown.length > 0) throw new Error(`ONLY: ${runs.map(({ name }) => name).join(', ')}, not ${unknown.join(', ')}`);
const commands = ['demo', 'test'].filter((name) => !env['COMMAND'] || env['COMMAND'] === name);
if (commands.length === 0) throw new Error('COMMAND: demo or test');
if (process.getuid?.() !== 0) throw new Error('This makes root file systems and containers: it has to run as root.');
installMissing(['debootstrap', 'podman', 'runc', 'slirp4netns']);

const outcome = { passed: 0, failed: 0 };
for (const run of runs.filter(({ name }) => only.length === 0 || only.includes(name))) await tryRun(run);
console.log(`${outcome.passed} passed, ${outcome.failed} failed`);
process.exitCode = outcome.failed > 0 ? 1 : 0;

async function tryRun(run: Run): Promise<void> {
  const folder = join(readSettings().localDir, 'fresh', run.name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = join(folder, 'root');
  await outputOf(['cp', '-a', '--reflink=auto', await baseOf(run.debian), files]);
  const home = run.user === 'root' ? '/root' : `/home/${run.user}`;
  mkdirSync(join(files, home), { recursive: true });
  copyUserRegistries(join(files, home));
  const checkout = join(home, 'vision');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', `file://${root}`, join(files, checkout)]);
  const machine = await Machine.start(`vision-fresh-${run.name}`, files);
  try {
    if (run.user !== 'root') await makeUser(machine, run.user, checkout);
    for (const command of commands) await tryCommand({ run, machine, folder, checkout }, command);
  } finally {
    await machine.remove();
    rmSync(files, { recursive: true, force: true });
  }
}

/** A plain user, whose programs root installs: `make programs` names them. */
async function makeUser(machine: Machine, user: string, checkout: string): Promise<void> {
  await machine.check(`useradd --shell /bin/bash ${user} && chown -R ${user}: /home/${user}`);
  say('fresh', `${user}: installing what make programs names`);
  const programs = await machine.check('make --silent programs', { user, cwd: checkout });
  const install = 'DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends';
  await machine.check(`apt-get -q update && ${install} ${programs.split('\n').at(-1) ?? ''}`);
}

interface Place {
  run: Run;
  machine: Machine;
  folder: string;
  checkout: string;
}

async function tryCommand({ run, machine, folder, checkout }: Place, command: string): Promise<void> {
  const log = join(folder, `${command}.log`);
  const before = await machine.installedPackages();
  const from = Date.now();
  const steps = command === 'test' && env['STEPS'] ? ` STEPS="${env['STEPS']}"` : '';
  say('fresh', `${run.name}: make ${command}${steps} (its output is in ${log})`);
  const code = await machine.run(`make ${command}${steps}`, log, { user: run.user, cwd: checkout });
  const seconds = Math.round((Date.now() - from) / 1000);
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const installed = (await machine.installedPackages()).filter((name) => !before.includes(name));
  const skipped = lines.filter((line) => /^skipped\b/.test(line));
  // Root can do everything, so a test that it skips is one that nobody runs.
  const isGood = code === 0 && (run.user !== 'root' || !/, \d+ skipped$/.test(lines.at(-1) ?? ''));
  outcome[isGood ? 'passed' : 'failed'] += 1;
  say('fresh', `${run.name}: make ${command} ${isGood ? 'ok' : 'FAILED'} (${seconds} s): ${lines.at(-1) ?? ''}`);
  say('fresh', `${run.name}: installed ${installed.length} packages: ${installed.join(' ') || 'none'}`);
  for (const line of skipped) say('fresh', `${run.name}: ${line}`);
  if (!isGood) console.log(lines.slice(-30).join('\n'));
}
