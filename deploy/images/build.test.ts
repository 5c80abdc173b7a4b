import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../local/settings.ts';
import { ownSource } from './build.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const between = { version: '0.4.0-dev.0123456789ab', commit, isRelease: false };

test.each(['0.4.0', 'v0.4.0', '0.4'])('refuses to build an image with %s, the tag of a release', (tag) => {
  expect(() => ownSource(tag, between)).toThrow(
    /is the tag of a release, which only "make release" makes\. Use 0\.4\.0-dev\.0123456789ab\.$/,
  );
});

test('sends who stands on a release to the command that makes it', () => {
  expect(() => ownSource('0.4.0', { version: '0.4.0', commit, isRelease: true })).toThrow(
    /This commit is the release 0\.4\.0: use "make release"\.$/,
  );
});

test('builds an image with the tag of a commit', () => {
  expect(ownSource(between.version)).toMatchObject({ tag: '0.4.0-dev.0123456789ab' });
});

const manuals = globSync(['*.md', 'docs/**/*.md', 'charts/**/*.md'], { cwd: root });
const texts = manuals.map((file) => readFileSync(join(root, file), 'utf8'));
const blocks = texts.flatMap((text) => text.match(/^```sh$[^]*?^```$/gm) ?? []);

test('no manual pushes what was built under another tag than that of its commit', () => {
  const building = blocks.filter((block) => /IMAGE_TAG=|\b(docker|podman|buildah) (tag|push)\b/.test(block));
  expect(building.length).toBeGreaterThan(0);
  for (const block of building) {
    const lines = block.split('\n');
    for (const line of lines.filter((one) => /IMAGE_TAG=/.test(one))) expect(line).toContain('IMAGE_TAG=$TAG ');
    for (const line of lines.filter((one) => /\b(docker|podman|buildah) (tag|push)\b/.test(one)))
      expect(line).toMatch(/(tag|push) \S+:\$TAG( |$)/);
    const tags = lines.filter((line) => /\bTAG=/.test(line.replaceAll('IMAGE_TAG=', '')));
    expect(tags.length).toBeGreaterThan(0);
    for (const line of tags) expect(line).toContain('TAG=$(make -s version)');
  }
});

test('every manual installs a chart that has images, never that of the checkout', () => {
  const commands = texts.flatMap((text) => text.match(/\bhelm\b[^`\n]*\b(install|upgrade) vision\b[^`\n]*/g) ?? []);
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) expect(command).toMatch(/ vision "\$CHART"/);
});

test('what a block of a manual uses of the names of a build is set before in that manual', () => {
  for (const text of texts) {
    for (const name of ['TAG', 'REGISTRY', 'CHART', 'PUBLIC_KEY']) {
      const used = new RegExp(`\\$\\{?${name}\\b`).exec(text);
      if (used === null) continue;
      expect(text.slice(0, used.index)).toMatch(new RegExp(`\\b${name}=`));
    }
  }
});
