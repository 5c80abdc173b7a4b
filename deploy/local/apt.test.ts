import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptGet } from './apt.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-apt-'));
const log = join(folder, 'log');
const path = process.env['PATH'];
const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);

beforeAll(() => {
  process.env['PATH'] = `${folder}:${path ?? ''}`;
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true });
});

/** A fake apt-get (the real one needs root): waits for a lock for the time of its option, then fails as apt does. */
function replaceAptGet(whenLocked: string): void {
  const script = `#!/bin/sh
echo "$*" >>${log}
flock --exclusive --wait "\${3#*=}" ${folder}/lock true && exit 0
${whenLocked}
echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt-get)" >&2
exit 100
`;
  writeFileSync(join(folder, 'apt-get'), script, { mode: 0o755 });
}

async function holdLock(): Promise<ChildProcess> {
  const holder = spawn('flock', ['--exclusive', '--no-fork', join(folder, 'lock'), 'sh', '-c', 'echo held; exec cat']);
  await once(holder.stdout, 'data');
  return holder;
}

test('waits for a lock that another process holds, and says so in one line', async () => {
  const holder = await holdLock();
  replaceAptGet(`kill ${holder.pid ?? 0}`);
  expect(aptGet(['install', 'a-package'])).toBeUndefined();
  expect(printed.mock.calls).toEqual([['apt        busy with another process; waiting for up to 15 minutes']]);
  expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual([
    '-q -o DPkg::Lock::Timeout=0 install a-package',
    '-q -o DPkg::Lock::Timeout=900 install a-package',
  ]);
});

test('returns what apt-get says when it fails for another reason', () => {
  writeFileSync(join(folder, 'apt-get'), '#!/bin/sh\necho "E: Unable to locate package a-package" >&2; exit 100\n');
  expect(aptGet(['install', 'a-package'])).toBe('E: Unable to locate package a-package');
});
