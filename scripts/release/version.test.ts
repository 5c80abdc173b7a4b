import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildVersion } from './version.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vision-version-'));
  git('init', '--quiet');
});
beforeEach(() => void commit('0.4.0-dev', 'a beginning'));
afterAll(() => rmSync(root, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  }).trim();

function commit(version: string, subject: string): string {
  writeFileSync(join(root, 'package.json'), JSON.stringify({ version, subject }));
  git('add', '.');
  git('commit', '--quiet', '--allow-empty', '--message', subject);
  return git('rev-parse', 'HEAD');
}

describe('the version of a build', () => {
  test('names the commit between releases', () => {
    const head = commit('0.4.0-dev', 'a change');
    expect(buildVersion(root)).toMatchObject({ commit: head, isRelease: false });
    expect(buildVersion(root).version).toMatch(/^0\.4\.0-dev\.[0-9a-f]{12,}$/);
    expect(head.startsWith(buildVersion(root).version.split('.').at(-1) ?? '')).toBe(true);
  });

  test('has no suffix at the commit of a release only', () => {
    commit('0.4.0', 'the release');
    expect(buildVersion(root)).toMatchObject({ version: '0.4.0', isRelease: true });
    commit('0.4.0', 'a change that forgot to raise it');
    expect(buildVersion(root)).toMatchObject({ isRelease: false });
    expect(buildVersion(root).version).toMatch(/^0\.4\.0-dev\.[0-9a-f]{12,}$/);
  });

  test('says when files differ from the commit, also from that of a release', () => {
    commit('0.4.0', 'the release');
    writeFileSync(join(root, 'more.ts'), '');
    expect(buildVersion(root).version).toMatch(/^0\.4\.0-dev\.[0-9a-f]{12,}\.modified$/);
    rmSync(join(root, 'more.ts'));
  });
});
