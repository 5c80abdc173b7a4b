import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksums, digestsOf, provenance } from '../bundle/provenance.ts';
import { provenanceProblems } from './origin.ts';
import { imagesIn, renderDifferences } from './renders.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const render = (version: string, image: string) => `kind: Deployment
metadata:
  labels:
    helm.sh/chart: vision-${version}
    app.kubernetes.io/version: "${version}"
spec:
  containers:
    - name: tasks
      image: ${image}
      env:
        - name: OTEL_RESOURCE_ATTRIBUTES
          value: k8s.deployment.name=vision-tasks,service.version=${version}
`;
const local = render('0.4.0-dev', 'localhost/vision/tasks:local');
const released = render('0.4.0', `127.0.0.1:5000/vision/tasks@${digest}`);

describe('two renders', () => {
  test('run the same when only versions and the origin of images differ', () => {
    expect(renderDifferences(local, released)).toEqual([]);
  });

  test('differ by another image, a line more, and a line less', () => {
    const other = released.replace('vision/tasks@', 'vision/quota@');
    expect(renderDifferences(local, other)).toEqual(['-      image: vision/tasks', '+      image: vision/quota']);
    expect(renderDifferences(local, `${released}  replicas: 2\n`)).toEqual(['+  replicas: 2']);
    expect(renderDifferences(local, released.replace(/ {6}image: .*\n/, ''))).toEqual(['-      image: vision/tasks']);
  });

  test('name their images', () => {
    expect(imagesIn(released)).toEqual([`127.0.0.1:5000/vision/tasks@${digest}`]);
  });
});

describe('the provenance', () => {
  const commit = '1'.repeat(40);
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vision-proof-'));
    mkdirSync(join(folder, 'chart'));
    writeFileSync(join(folder, 'chart/vision-0.4.0.tgz'), 'a chart');
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    rmSync(join(folder, 'SHA256SUMS'), { force: true });
    rmSync(join(folder, 'provenance.intoto.json'), { force: true });
    const at = new Date('2026-01-01T00:00:00Z');
    const statement = provenance(await digestsOf(folder), { version: '0.4.0', commit, startedOn: at, finishedOn: at });
    writeFileSync(join(folder, 'provenance.intoto.json'), JSON.stringify(statement));
    writeFileSync(join(folder, 'SHA256SUMS'), checksums(await digestsOf(folder)));
  });

  test('agrees with the checksums and the commit', () => {
    expect(provenanceProblems(folder, commit)).toEqual([]);
  });

  test('of another commit is reported', () => {
    const problems = provenanceProblems(folder, '2'.repeat(40));
    expect(problems).toEqual([`the provenance names commit ${commit}, not ${'2'.repeat(40)}`]);
  });

  test('that leaves out a signed file, or names one that is not signed, is reported', () => {
    writeFileSync(join(folder, 'SHA256SUMS'), `${'b'.repeat(64)}  sbom/tasks.cdx.json\n`);
    expect(provenanceProblems(folder, commit)).toEqual([
      'the provenance does not name sbom/tasks.cdx.json with its digest',
      'the provenance names chart/vision-0.4.0.tgz, which is not signed',
    ]);
  });
});
