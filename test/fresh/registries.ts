import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Where users and machines keep the addresses of their package registries. */
const OF_USERS = ['.npmrc', '.config/pip/pip.conf', '.m2/settings.xml', '.m2/settings-security.xml'];
const OF_MACHINES = ['/etc/pip.conf', '/etc/maven/settings.xml'];

const VARIABLES =
  /^((https?|all|no)_proxy|npm_config_(registry|.*proxy|strict_ssl|fetch_\w+)|pip_(index_url|.*proxy|.*timeout))$/i;

/** Authorities that this machine trusts besides those of its distribution; `update-ca-certificates` reads them. */
export const CERTIFICATES = '/usr/local/share/ca-certificates';

/** Names a registry, a proxy or an authority: what this machine needs to reach the packages. */
export function registryVariables(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => VARIABLES.test(name));
  return {
    ...Object.fromEntries(given.map(([name, value = '']) => [name, value])),
    // Node.js and pip bring authorities of their own.
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    PIP_CERT: '/etc/ssl/certs/ca-certificates.crt',
  };
}

/** Gives a root file system what apt of this machine knows of registries. */
export function copyAptRegistries(root: string): void {
  const dump = spawnSync('apt-config', ['dump'], { encoding: 'utf8' }).stdout;
  const lines = dump.split('\n').filter((line) => /^Acquire::(https?|Check-\w+)/i.test(line));
  writeFileSync(join(root, 'etc/apt/apt.conf.d/99registries'), `${lines.join('\n')}\n`);
}

/** The same for pip and Maven; after the packages, as dpkg asks about a file that was there before. */
export function copyMachineRegistries(root: string): void {
  for (const file of OF_MACHINES) copyWhereThere(file, join(root, file));
}

/** Gives a home folder the registries of this user. */
export function copyUserRegistries(home: string): void {
  for (const file of OF_USERS) copyWhereThere(join(homedir(), file), join(home, file));
}

function copyWhereThere(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
