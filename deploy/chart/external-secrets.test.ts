import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { chartDir } from './examples.ts';
import { keysOfSecrets, parseManifests } from './manifests.ts';
import { keptManifests } from './renders.ts';

interface Spec {
  target: { name: string };
  data: { secretKey: string; remoteRef: { key: string; property: string } }[];
}

test('the example for External Secrets makes each key that the managed example reads, and no other', () => {
  const text = readFileSync(join(chartDir, 'examples/external-secrets/managed.yaml'), 'utf8');
  const objects = parseManifests(text);
  expect(new Set(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))).toEqual(
    new Set(['external-secrets.io/v1 ExternalSecret']),
  );
  const made = objects.flatMap(({ spec }) => {
    const { target, data } = spec as unknown as Spec;
    return data.map(({ secretKey }) => `${target.name}/${secretKey}`);
  });
  expect(made.toSorted()).toEqual([...keysOfSecrets(keptManifests('managed')).keys()].toSorted());
});
