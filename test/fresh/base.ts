import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { outputOf } from '../../deploy/local/program.ts';
import { readSettings, root, say } from '../../deploy/local/settings.ts';
import { Machine } from './machine.ts';
import { CERTIFICATES, copyAptRegistries, copyMachineRegistries } from './registries.ts';

export type Debian = 12 | 13;

/** What README says a machine needs, as packages; Debian 12 has no Node.js 20. */
const PACKAGES: Record<Debian, string[]> = {
  12: ['git', 'make', 'default-jdk-headless', 'maven'],
  13: ['git', 'make', 'default-jdk-headless', 'maven', 'nodejs', 'npm'],
};

/**
 * Root file system of a Debian with what README says a machine needs and nothing else, made once in the cache folder.
 */
export async function baseOf(debian: Debian): Promise<string> {
  const base = join(readSettings().cacheDir, `fresh-debian-${debian}`);
  if (existsSync(base)) return base;
  const bare = (await outputOf(['sh', join(root, 'scripts/debian-base.sh'), String(debian)])).split('\n').at(-1) ?? '';
  say('fresh', `installing ${PACKAGES[debian].join(', ')} in Debian ${debian} (only once)`);
  const unfinished = `${base}.${process.pid}`;
  await outputOf(['cp', '-a', '--reflink=auto', bare, unfinished]);
  copyAptRegistries(unfinished);
  if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, join(unfinished, CERTIFICATES), { recursive: true });
  const machine = await Machine.start(`vision-fresh-base-${debian}`, unfinished);
  try {
    // Before Java, which makes a store of its own of the authorities that it finds.
    await machine.check('update-ca-certificates');
    await machine.check(`apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
      --no-install-recommends ${PACKAGES[debian].join(' ')} && apt-get clean`);
    copyMachineRegistries(unfinished);
    if (debian === 12) await unpackNode(unfinished);
    await machine.check('node --version && npm --version && mvn --version && git --version');
  } finally {
    await machine.remove();
  }
  await outputOf(['rm', '-rf', join(unfinished, 'var/lib/apt/lists')]);
  renameSync(unfinished, base);
  return base;
}

/** Node.js 20 and its npm as the npm registry has them; a person would take the archive of nodejs.org. */
async function unpackNode(files: string): Promise<void> {
  const scratch = join(files, 'tmp/node');
  const packages = { [`node-linux-${arch()}@20`]: 'usr/local', 'npm@10': 'usr/local/lib/node_modules/npm' };
  for (const [name, folder] of Object.entries(packages)) {
    rmSync(scratch, { recursive: true, force: true });
    mkdirSync(scratch, { recursive: true });
    mkdirSync(join(files, folder), { recursive: true });
    const said = await outputOf(['npm', 'pack', '--silent', name, '--pack-destination', scratch]);
    const archive = join(scratch, said.split('\n').at(-1) ?? '');
    await outputOf(['tar', '-xzf', archive, '-C', join(files, folder), '--strip-components=1', '--no-same-owner']);
  }
  rmSync(scratch, { recursive: true });
  const script = 'lib/node_modules/npm/bin';
  await outputOf(['ln', '-s', `../${script}/npm-cli.js`, join(files, 'usr/local/bin/npm')]);
  await outputOf(['ln', '-s', `../${script}/npx-cli.js`, join(files, 'usr/local/bin/npx')]);
}
