import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callers } from '@vision/contracts/allowed-calls';
import { publicKeyOf } from '@vision/shared/service-keys';
import { completeSecrets, readEnvFile } from '../local/secrets.ts';
import { root } from '../local/settings.ts';

const example = join(root, '.env.example');

/** Values of all secrets that compose asks for: the ones given, and random ones in place of the others. */
export function composeSecrets(given: Record<string, string | undefined>): Record<string, string> {
  const secrets = completeSecrets(given);
  const listed = (given['SERVICE_PUBLIC_KEYS'] ?? '').split(/[',]/).filter((key) => key !== '');
  const own = callers.map((name) => publicKeyOf(name, secrets[`${upper(name)}_SERVICE_KEY`]));
  return {
    ...secrets,
    // A service whose own key is not listed does not start; further ones are those of a rotation.
    SERVICE_PUBLIC_KEYS: [...listed, ...own.filter((key) => !listed.includes(key))].join(','),
    REDIS_PASSWORD: given['REDIS_PASSWORD'] || randomBytes(18).toString('hex'),
    GRAFANA_PASSWORD: given['GRAFANA_PASSWORD'] || randomBytes(18).toString('hex'),
  };
}

/**
 * Writes the file, from `.env.example` where there is none. What is set stays as it is, but for the commit that images
 * are built from; empty secrets are filled in, and public keys of new private ones are listed with the others. Returns
 * the names of what was written.
 */
export function writeComposeEnv(file: string, revision?: string): string[] {
  const given = readEnvFile(file);
  const secrets = composeSecrets(given);
  if (revision !== undefined) secrets['REVISION'] = revision;
  const made = Object.keys(secrets).filter((name) => given[name] !== secrets[name]);
  const text = readFileSync(existsSync(file) ? file : example, 'utf8');
  const filled = text.replace(/^([A-Z0-9_]+)=(.*)$/gm, (line, name: string, value: string) =>
    value.trim() === '' || made.includes(name) ? `${name}=${secrets[name] ?? ''}` : line,
  );
  const missing = Object.entries(secrets).filter(([name]) => !new RegExp(`^${name}=`, 'm').test(filled));
  const added = missing.map(([name, value]) => `${name}=${value}\n`).join('');
  writeFileSync(file, `${filled.trimEnd()}\n${added}`, { mode: 0o600 });
  // The mode above is for a new file.
  chmodSync(file, 0o600);
  return made;
}

/** Upper case that the type checker follows. */
const upper = <N extends string>(name: N) => name.toUpperCase() as Uppercase<N>;
