import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { say } from './settings.ts';

const policyFile = '/usr/sbin/policy-rc.d';

/** How long a busy apt is waited for; the first installation of a machine takes minutes. */
const LOCK_TIMEOUT_S = 900;
const POLL_MS = 1000;

/**
 * A package's own daemon would start on its usual port: while we install, the distribution's policy hook forbids that.
 * Returns what went wrong.
 */
export function aptInstall(names: string[]): string | undefined {
  const ownPolicy = !existsSync(policyFile);
  if (ownPolicy) writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const install = () => aptGet(['install', '-y', '--no-install-recommends', ...names]);
    return install() === undefined ? undefined : (aptGet(['update']) ?? install());
  } finally {
    if (ownPolicy) rmSync(policyFile, { force: true });
  }
}

/**
 * Runs apt-get; while another process holds one of its locks, waits and says so once. apt itself waits for dpkg's locks
 * only, not for those of its lists and archives. Returns the last lines of what apt-get said when it failed.
 */
export function aptGet(args: string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const deadline = Date.now() + LOCK_TIMEOUT_S * 1000;
  for (let timeoutS = 0; ; timeoutS = LOCK_TIMEOUT_S) {
    const command = ['-q', '-o', `DPkg::Lock::Timeout=${timeoutS}`, ...args];
    const { status, stdout, stderr, error } = spawnSync('apt-get', command, { env, encoding: 'utf8' });
    if (status === 0) return undefined;
    const output = `${stdout}${stderr}${error?.message ?? ''}`.trim();
    const isBusy = /Could not get lock|Unable to (acquire|lock)/.test(output);
    if (!isBusy || Date.now() > deadline) return output.split('\n').slice(-5).join('\n');
    if (timeoutS === 0) say('apt', `busy with another process; waiting for up to ${LOCK_TIMEOUT_S / 60} minutes`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}
