import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram, installMissing } from '../../../deploy/local/host-programs.ts';

/** What `verify.sh` of a release contains. */
export const VERIFY = `#!/bin/sh
# sh verify.sh <public key>: whether these files are those that the holder of the key signed.
cd "$(dirname "$0")" && minisign -Vm SHA256SUMS -P "$1" && sha256sum --check --strict SHA256SUMS
`;

const minisign = (args: string[], stdio: 'inherit' | 'ignore') =>
  spawnSync(findProgram('minisign') ?? 'minisign', args, { stdio }).status === 0;

/** Signs the checksums of a release. They name every file, so one signature stands for all. */
export function sign(folder: string, key: string, version: string): void {
  installMissing(['minisign']);
  const args = ['-S', '-s', key, '-m', join(folder, 'SHA256SUMS'), '-t', `vision ${version}`];
  // It asks for the password of the key.
  if (!minisign(args, 'inherit')) throw new Error(`minisign did not sign with ${key}.`);
}

/** Makes a pair of keys without a password. */
export function makeKeys(secret: string, publicKey: string): void {
  installMissing(['minisign']);
  if (!minisign(['-G', '-W', '-f', '-s', secret, '-p', publicKey], 'ignore')) throw new Error('minisign made no keys.');
}
