import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../../../deploy/local/settings.ts';
import { pinned } from './chart.ts';
import { checksums, digestsOf, provenance } from './provenance.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vision-bundle-'));
  mkdirSync(join(folder, 'images'));
  writeFileSync(join(folder, 'images/tasks.tar'), 'an archive');
  writeFileSync(join(folder, 'readme'), 'text');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('sha256sum finds a file that was changed after the checksums were written', async () => {
  writeFileSync(join(folder, 'SHA256SUMS'), checksums(await digestsOf(folder)));
  const check = () => spawnSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder });
  expect(check().status).toBe(0);
  writeFileSync(join(folder, 'images/tasks.tar'), 'another archive');
  expect(check().status).toBe(1);
  rmSync(join(folder, 'SHA256SUMS'));
});

test('the provenance names the commit and each file with its digest', async () => {
  const at = new Date('2026-01-01T00:00:00Z');
  const digests = await digestsOf(folder);
  const commit = '0'.repeat(40);
  const statement = provenance(digests, { version: '0.4.0', commit, startedOn: at, finishedOn: at });
  const sha256 = execFileSync('sha256sum', [join(folder, 'images/tasks.tar')], { encoding: 'utf8' }).slice(0, 64);
  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
    subject: [{ name: 'images/tasks.tar', digest: { sha256 } }, { name: 'readme' }],
    predicate: { buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: commit } }] } },
  });
});

test('the chart of a release runs the images by their digests, and keeps every other value', () => {
  const text = readFileSync(join(root, 'charts/vision/values.yaml'), 'utf8');
  const digest = `sha256:${'a'.repeat(64)}`;
  const changed = parse(pinned(text, { tasks: digest, inference: digest })) as Values;
  const before = parse(text) as Values;
  expect(changed.components['tasks']).toEqual({ ...before.components['tasks'], image: { digest } });
  expect(changed.components['inference']).toEqual({ ...before.components['inference'], image: { digest } });
  expect({ ...changed, components: 0 }).toEqual({ ...before, components: 0 });
});

interface Values {
  components: Record<string, object>;
}
