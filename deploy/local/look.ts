import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid, startedPrograms } from './background.ts';
import { serviceNames } from './service-environment.ts';
import type { ServiceName } from './service-environment.ts';
import { portOf, urlOf } from './settings.ts';
import type { PortName, Settings } from './settings.ts';
import { answersOk } from './wait.ts';

/** One line for each part that was started: process, port, and for services what their readiness says. */
export async function printStatus(settings: Settings): Promise<void> {
  const names = startedPrograms(settings);
  if (names.length === 0) console.log('Nothing is running.');
  for (const name of names) {
    const pid = runningPid(settings, name);
    const state = pid === undefined ? 'ended' : await stateOf(settings, name);
    if (state !== 'ready' && state !== 'running') process.exitCode = 1;
    console.log(
      `${name.padEnd(10)} ${state.padEnd(10)} pid ${String(pid ?? '-').padEnd(8)} port ${portOf(settings, name as PortName)}`,
    );
  }
}

async function stateOf(settings: Settings, name: string): Promise<string> {
  if (!serviceNames.includes(name as ServiceName)) return 'running';
  const url = `${urlOf(settings, `${name as ServiceName}Health`)}/health/ready`;
  return (await answersOk(url).catch(() => false)) ? 'ready' : 'not ready';
}

/** Follows the logs, all of them or one, until interrupted. */
export async function followLogs(settings: Settings, name: string | undefined): Promise<void> {
  const dir = join(settings.localDir, 'log');
  const all = existsSync(dir) ? readdirSync(dir).filter((file) => file.endsWith('.log')) : [];
  const files = name ? all.filter((file) => file === `${name}.log`) : all;
  if (files.length === 0) throw new Error('There is no such log.');
  const tail = spawn('tail', ['-n', '20', '-F', ...files.map((file) => join(dir, file))], { stdio: 'inherit' });
  await new Promise((done) => tail.once('exit', done));
}
