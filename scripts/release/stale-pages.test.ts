import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { benchCommand, measurements } from './measurements.ts';
import { recordText, recordsIn } from './record.ts';
import { currentCommit, hasSameCode } from './repository.ts';
import { checkPages, freshnessLines } from './stale-pages.ts';
import { replaceSection } from './written-section.ts';

const why = { command: 'why', page: 'docs/why.md', files: ['services/*/src/*', 'config.json'] };

const project = join(import.meta.dirname, '../..');
let root: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function commit(files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) write(path, text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'a change');
  return git('rev-parse', 'HEAD');
}

const pageOf = (hash: string, files = why.files) =>
  `# Why\n\n${recordText({ command: 'why', commit: hash, day: '2026-11-23', files })}\n`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'vision-pages-'));
  git('init', '--quiet');
});
afterEach(() => rmSync(root, { recursive: true }));

describe('checkPages', () => {
  test('a page is fresh when it was committed after the commit that it names and nothing measured changed', () => {
    const measured = commit({ 'services/tasks/src/a/b.ts': '1', 'README.md': '1' });
    commit({ 'docs/why.md': pageOf(measured), 'README.md': '2', 'services/tasks/src/a/b.test.ts': '1' });
    expect(checkPages(root, [why])).toEqual({ stale: [] });
    expect(freshnessLines(checkPages(root, [why]))).toEqual([]);
  });

  test('a page is stale when a measured file has changed, committed or not', () => {
    const measured = commit({ 'services/tasks/src/a/b.ts': '1', 'config.json': '1' });
    commit({ 'docs/why.md': pageOf(measured) });
    write('config.json', '2');
    const reasons = (count: number) => [`why: ${count} of its files changed since ${measured.slice(0, 12)}`];
    expect(checkPages(root, [why]).stale).toEqual([{ page: 'docs/why.md', reasons: reasons(1) }]);
    commit({ 'services/tasks/src/a/b.ts': '2' });
    expect(checkPages(root, [why]).stale).toEqual([{ page: 'docs/why.md', reasons: reasons(2) }]);
    expect(freshnessLines(checkPages(root, [why]))).toHaveLength(2);
  });

  test.each([
    ['names no commit', () => '# Why\n', 'why: no record'],
    ['was measured with uncommitted changes', (hash: string) => pageOf(`${hash}-modified`), /uncommitted/],
    ['names a commit that does not exist', () => pageOf('1'.repeat(40)), /111111111111 is unknown here/],
    ['lists other files', (hash: string) => pageOf(hash, ['config.json']), /lists other files/],
  ])('a page is stale when it %s', (_, textOf, reason) => {
    const measured = commit({ 'config.json': '1' });
    commit({ 'docs/why.md': textOf(measured) });
    expect(checkPages(root, [why]).stale).toEqual([{ page: 'docs/why.md', reasons: [expect.stringMatching(reason)] }]);
  });

  test('nothing is checked without history', () => {
    const measured = commit({ 'config.json': '1' });
    commit({ 'docs/why.md': pageOf(measured), 'config.json': '2' });
    const origin = root;
    root = mkdtempSync(join(tmpdir(), 'vision-pages-'));
    git('clone', '--quiet', '--depth', '1', `file://${origin}`, '.');
    expect(freshnessLines(checkPages(root, [why]))).toEqual([
      'measured pages: not checked (the git history is shallow)',
    ]);
    rmSync(join(root, '.git'), { recursive: true });
    expect(checkPages(root, [why])).toEqual({ notChecked: 'there is no git history here', stale: [] });
    rmSync(origin, { recursive: true });
  });
});

describe('records', () => {
  test('a record is read back however the page breaks its lines', () => {
    const record = { command: 'bench BENCH=images', commit: 'a'.repeat(40), day: '2026-11-23', files: why.files };
    expect(recordsIn(`${recordText(record).replaceAll(' ', '\n')} More.`)).toEqual([record]);
  });

  test('every benchmark has its page', () => {
    const benchmarks = readdirSync(join(project, 'bench'))
      .filter((file) => file.endsWith('.bench.ts') && file !== 'two-systems.bench.ts')
      .map((file) => benchCommand(file.replace('.bench.ts', '')));
    expect(measurements.map(({ command }) => command)).toEqual(expect.arrayContaining(benchmarks));
  });

  test('every measurement has its page, and a page that a part of is written has that part', () => {
    for (const { command, page } of measurements) {
      expect(existsSync(join(project, page))).toBe(true);
      if (!/^(images|rotate|bench .*)$/.test(command)) continue;
      expect(() => replaceSection(readFileSync(join(project, page), 'utf8'), command, '')).not.toThrow();
    }
  });
});

describe('the measured commit', () => {
  test('is marked when files differ, except those that runs write', () => {
    const head = commit({ 'config.json': '1', 'docs/why.md': 'old' });
    write('docs/why.md', 'new');
    expect(currentCommit(root)).toBe(head);
    write('unknown.ts', '1');
    expect(currentCommit(root)).toBe(`${head}-modified`);
  });

  test('has the same code as a later one that only wrote pages', () => {
    const measured = commit({ 'config.json': '1' });
    commit({ 'docs/why.md': 'new' });
    expect(hasSameCode(root, measured)).toBe(true);
    commit({ 'config.json': '2' });
    expect(hasSameCode(root, measured)).toBe(false);
  });
});
