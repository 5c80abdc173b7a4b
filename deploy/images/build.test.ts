import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../local/settings.ts';
import { ownSource } from './build.ts';

test.each(['0.4.0', 'v0.4.0', '0.4'])('refuses to build an image with %s, the tag of a release', (tag) => {
  expect(() => ownSource(tag)).toThrow(/is the tag of a release, which only "make release" makes\. Use 0\./);
});

test('builds an image with the tag of a commit', () => {
  expect(ownSource('0.4.0-dev.0123456789ab')).toMatchObject({ tag: '0.4.0-dev.0123456789ab' });
});

test('no manual pushes what was built under another tag than that of its commit', () => {
  const manuals = globSync(['*.md', 'docs/**/*.md', 'charts/**/*.md'], { cwd: root });
  const lines = manuals.flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n'));
  const builds = lines.filter((line) => /IMAGE_TAG=/.test(line));
  const pushes = lines.filter((line) => /\b(docker|podman|buildah) (tag|push)\b/.test(line));
  expect(builds.length).toBeGreaterThan(0);
  expect(pushes.length).toBeGreaterThan(0);
  for (const line of builds) expect(line).toContain('IMAGE_TAG=$TAG ');
  for (const line of pushes) expect(line).toMatch(/(tag|push) \S+:\$TAG /);
  const tags = lines.filter((line) => /\bTAG=/.test(line.replaceAll('IMAGE_TAG=', '')));
  for (const line of tags) expect(line).toContain('TAG=$(make -s version)');
});
