import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentCommit } from './repository.ts';

export interface BuildVersion {
  /** Of images and chart that are built of this tree. */
  version: string;
  /** HEAD, marked when the files differ from it. */
  commit: string;
  /** Whether it is a release, whose version has no suffix. */
  isRelease: boolean;
}

/**
 * The version of what is built here. The commit that gives the manifests a version without `-dev` is that release;
 * every other tree is a version of its own, which names its commit: 0.4.0-dev.0123456789ab.
 */
export function buildVersion(root: string): BuildVersion {
  const manifest = versionIn(readFileSync(join(root, 'package.json'), 'utf8'));
  const commit = currentCommit(root);
  const isClean = /^[0-9a-f]{40}$/.test(commit);
  if (isClean && !manifest.endsWith('-dev') && versionBefore(root) !== manifest)
    return { version: manifest, commit, isRelease: true };
  const [head = '', mark] = commit.split('-');
  const parts = [manifest.replace(/(-dev)?$/, '-dev'), shortened(head), ...(mark === undefined ? [] : [mark])];
  return { version: parts.join('.'), commit, isRelease: false };
}

/** Twelve digits; more where these are a number with a zero in front, which semantic versions forbid. */
function shortened(commit: string): string {
  let length = 12;
  while (length < commit.length && /^0\d+$/.test(commit.slice(0, length))) length += 1;
  return commit.slice(0, length);
}

const versionIn = (manifest: string) => (JSON.parse(manifest) as { version: string }).version;

/** The version of the commit before; undefined when there is none. */
function versionBefore(root: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['show', 'HEAD^:package.json'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? versionIn(stdout) : undefined;
}
