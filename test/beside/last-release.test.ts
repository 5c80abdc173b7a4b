import { afterAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseRelease, lastRelease, unpackRelease } from './last-release.ts';

const commit = 'a'.repeat(40);
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vision-release-'));
  folders.push(folder);
  return folder;
}

function repository(): { root: string; git: (...args: string[]) => string } {
  const root = temporary();
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) => execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' });
  git('init', '--quiet');
  writeFileSync(join(root, 'file.txt'), 'old');
  git('add', '.');
  git('commit', '--quiet', '-m', 'One');
  return { root, git };
}

test('the last release is the first heading with a version and a commit', () => {
  const changelog = `# Changelog\n\n## Unreleased\n\n## 0.3.0 (commit ${commit})\n\n## 0.2.0 (commit ${'b'.repeat(40)})\n`;
  expect(lastRelease(changelog)).toEqual({ version: '0.3.0', commit });
});

test('another release of the changelog is named by its version', () => {
  const old = 'b'.repeat(40);
  const changelog = `# Changelog\n\n## 0.3.0 (commit ${commit})\n\n## 0.2.0 (commit ${old})\n`;
  expect(baseRelease(changelog, '')).toEqual({ version: '0.3.0', commit });
  expect(baseRelease(changelog, '0.2.0')).toEqual({ version: '0.2.0', commit: old });
  expect(() => baseRelease(changelog, '0.1.0')).toThrow(
    'BASE=0.1.0 is no release that CHANGELOG.md names, but 0.3.0, 0.2.0.',
  );
});

test('the changelog of this repository names one', () => {
  const changelog = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');
  expect(lastRelease(changelog).version).toMatch(/^\d+\.\d+\.\d+$/);
});

test('a changelog without a release says what is missing', () => {
  expect(() => lastRelease('# Changelog\n\n## Unreleased\n')).toThrow('names no release with its commit');
});

test('a commit that the clone does not have is told with what to do, and nothing is left behind', () => {
  const { root } = repository();
  const folder = temporary();
  const release = { version: '0.3.0', commit };
  expect(() => unpackRelease(root, folder, release)).toThrow(
    `Release 0.3.0 (commit aaaaaaaaaaaa) is not in this clone; get it with "git fetch origin ${commit}".`,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a shallow clone is told to fetch its history', () => {
  const { root } = repository();
  const clone = join(temporary(), 'clone');
  execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone]);
  expect(() => unpackRelease(clone, temporary(), { version: '0.3.0', commit })).toThrow('"git fetch --unshallow"');
});

test('the files are those of the commit, whatever the work tree has', () => {
  const { root, git } = repository();
  const folder = temporary();
  const old = git('rev-parse', 'HEAD').trim();
  writeFileSync(join(root, 'file.txt'), 'new');
  const tree = unpackRelease(root, folder, { version: '0.3.0', commit: old });
  expect(readFileSync(join(tree, 'file.txt'), 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual([old]);
});
