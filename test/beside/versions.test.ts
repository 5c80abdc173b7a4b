import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../../deploy/local/settings.ts';
import { missingHistory } from '../../scripts/release/repository.ts';
import { lastRelease } from './last-release.ts';

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = (path: string) => JSON.parse(read(path)) as Manifest;

/** Images are labelled with it; `visionctl --version` prints that of its own package. */
const { version } = manifest('package.json');
const workspaces = globSync('{packages,services}/*/package.json', { cwd: root });

const numbers = (text: string) =>
  text
    .split('.')
    .map((part) => part.padStart(6, '0'))
    .join('.');

test('the version of the repository is behind the newest release, and only a release has no suffix', () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+(-dev)?$/);
  // The changelog names a release in the commit after it, which begins the next version.
  expect(numbers(version.replace('-dev', '')) > numbers(lastRelease(read('CHANGELOG.md')).version)).toBe(true);
});

const withHistory = missingHistory(root) === undefined ? test : test.skip;

withHistory('the newest release is part of the history of this commit', () => {
  const { commit } = lastRelease(read('CHANGELOG.md'));
  const isAncestor = ['merge-base', '--is-ancestor', commit, 'HEAD'];
  expect(spawnSync('git', isAncestor, { cwd: root }).status).toBe(0);
});

test('every package has the version of the repository, and asks for the others in it', () => {
  expect(workspaces).toEqual(expect.arrayContaining(['services/tasks/package.json', 'packages/shared/package.json']));
  for (const path of workspaces) {
    const { version: own, dependencies = {}, devDependencies = {} } = manifest(path);
    const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
      name.startsWith('@vision/'),
    );
    expect({ path, versions: [own, ...ours.map(([, wanted]) => wanted)] }).toEqual({
      path,
      versions: [version, ...ours.map(() => version)],
    });
  }
});

test('the lock file agrees', () => {
  const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, Manifest> };
  const ours = ['', ...workspaces.map((path) => path.replace('/package.json', ''))];
  expect([lock.version, ...ours.map((path) => lock.packages[path]?.version)]).toEqual(['', ...ours].map(() => version));
});

test('the chart has the version of the images that it runs', () => {
  const chart = parse(read('charts/vision/Chart.yaml')) as {
    version: string;
    appVersion: string;
    annotations: Record<string, string>;
  };
  const images = [...(chart.annotations['artifacthub.io/images'] ?? '').matchAll(/image: \S+:(\S+)/g)];
  expect([chart.version, chart.appVersion]).toEqual([version, version]);
  expect(images.map(([, tag]) => tag)).toEqual(Array.from({ length: 7 }, () => version));
});

test('the Python client has the version of the repository, as Python writes it', () => {
  // What Python calls a development release (PEP 440).
  const [, own] = /^version = "(.+)"$/m.exec(read('clients/python/pyproject.toml')) ?? [];
  expect(own).toBe(version.replace(/-dev$/, '.dev0'));
});
