import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { sceneRegistry } from '@vision/contracts/scenes';
import { dashboards } from '../dashboards/all.ts';
import { serviceNames } from '../local/service-environment.ts';
import { root } from '../local/settings.ts';
import { chartDir, examples } from './examples.ts';
import { keysOfSecrets, nameOf, podOf } from './manifests.ts';
import type { Manifest } from './manifests.ts';
import { keptManifests } from './renders.ts';
import { againstRestricted } from './restricted.ts';
import { sourcesDigest, sourcesFile } from './sources.ts';

type Values = Record<string, unknown>;
interface Facts {
  components: Record<string, { settings: Record<string, string>; sessions: number }>;
}

const read = (path: string) => readFileSync(path, 'utf8');
const yaml = (path: string) => parse(read(join(chartDir, path)), { merge: true }) as Values;
const facts = JSON.parse(read(join(chartDir, 'files/facts.json'))) as Facts;
const schema = JSON.parse(read(join(chartDir, 'values.schema.json'))) as object;
const goldens = Object.keys(examples).map((name) => ({
  name,
  manifests: keptManifests(name),
}));
const exampleFiles = [...new Set(Object.values(examples).flat())];
const all = goldens.flatMap(({ name, manifests }) => manifests.map((manifest) => ({ name, manifest })));

test('the renders that are kept were made from the chart as it is; "UPDATE=1 make chart" makes them anew', () => {
  expect(sourcesDigest()).toBe(read(sourcesFile).trim());
});

test('the schema takes the defaults and every example', () => {
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  for (const file of ['values.yaml', ...exampleFiles.map((name) => `examples/${name}.yaml`)]) {
    validate(yaml(file));
    expect({ file, errors: validate.errors }).toEqual({ file, errors: null });
  }
});

test('three replicas of each service and one more in a rollout take no more than 170 connections', () => {
  const { componentDefaults, components } = yaml('values.yaml') as unknown as {
    componentDefaults: Pooled;
    components: Record<string, Partial<Pooled>>;
  };
  const each = Object.entries(components).map(([name, { database = componentDefaults.database }]) => {
    return database.pool + (facts.components[name]?.sessions ?? 0);
  });
  expect(each).toHaveLength(7);
  const ofMigration = 2;
  expect((3 + 1) * each.reduce((sum, connections) => sum + connections, 0) + ofMigration).toBeLessThanOrEqual(170);
});

interface Pooled {
  database: { pool: number };
}

test('stores.env has every key that the small example reads from its Secret', () => {
  const lines = read(join(chartDir, 'examples/stores.env')).split('\n');
  const given = lines.flatMap((line) => /^([a-z-]+)=./.exec(line)?.[1] ?? []);
  const { manifests = [] } = goldens.find(({ name }) => name === 'one-node') ?? {};
  const references = containersOf(manifests).flatMap(({ container: { env = [] } }) =>
    env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
  );
  const wanted = references.filter(({ name }) => name === 'vision-stores').map(({ key }) => key);
  expect(given.sort()).toEqual([...new Set(wanted)].sort());
});

test('the manual has a command for every Secret that the managed example reads', () => {
  const { manifests = [] } = goldens.find(({ name }) => name === 'managed') ?? {};
  // A file of lines has a password for each service.
  const commands = read(join(root, 'docs/kubernetes.md'))
    .replaceAll('\\\n', ' ')
    .matchAll(/create secret generic (.+)/g);
  const made = [...commands].flatMap(([, command = '']) => {
    const [name = ''] = command.split(' ');
    const given = [...command.matchAll(/--from-(?:literal|file)=([\w.-]+)/g)].map(([, key = '']) => key);
    const keys = command.includes('--from-env-file=databases.env') ? serviceNames : given;
    return keys.map((key) => `${name}/${key}`);
  });
  expect([...keysOfSecrets(manifests).keys()].filter((reference) => !made.includes(reference))).toEqual([]);
});

test('the scenes of an example are a registry that the services read', () => {
  const { scenes } = yaml('examples/triton.yaml') as { scenes: { json: string } };
  expect(sceneRegistry.safeParse(JSON.parse(scenes.json)).error).toBeUndefined();
});

describe.each(goldens)('what $name renders', ({ manifests }) => {
  test('keeps the restricted profile in every pod', () => {
    expect(manifests.filter(podOf).length).toBeGreaterThan(12);
    expect(manifests.flatMap((one) => againstRestricted(one).map((fault) => `${nameOf(one)}: ${fault}`))).toEqual([]);
  });

  test('has a pod for "helm test"', () => {
    const tests = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');
    expect(tests.map(nameOf)).toEqual(['ConfigMap/vision-test-files', 'Pod/vision-test']);
  });

  test('gives no variable twice', () => {
    for (const { one, container } of containersOf(manifests)) {
      const names = container.env?.map(({ name }) => name) ?? [];
      expect({ of: nameOf(one), twice: names.filter((name, at) => names.indexOf(name) !== at) }).toEqual({
        of: nameOf(one),
        twice: [],
      });
    }
  });

  test('gives each service only what it reads', () => {
    for (const { one, container } of containersOf(manifests.filter(({ kind }) => kind === 'Deployment'))) {
      const known = Object.keys(facts.components[container.name]?.settings ?? {});
      const names = container.env?.map(({ name }) => name) ?? [];
      const ofPlatform = /^(OTEL_.*|POD_NAME|POD_NAMESPACE|NODE_OPTIONS|AWS_ROLE_ARN|AWS_WEB_IDENTITY_TOKEN_FILE)$/;
      const unknown = names.filter((name) => !ofPlatform.test(name) && !known.includes(name));
      expect({ of: nameOf(one), unknown }).toEqual({ of: nameOf(one), unknown: [] });
    }
  });

  test('has jobs that use nothing of the chart, since they run before it', () => {
    const made = new Set(manifests.filter((one) => !isHook(one)).map(({ metadata }) => metadata.name));
    const jobs = manifests.filter(({ kind }) => kind === 'Job');
    expect(jobs.length).toBe(9);
    for (const job of jobs) {
      const pod = podOf(job);
      const named = JSON.stringify([pod?.serviceAccountName, pod?.volumes, pod?.containers.map(({ env }) => env)]);
      expect([...made].filter((name) => named.includes(`"${name}"`))).toEqual([]);
    }
  });

  test('lets a pod stop for as long as its services may take', () => {
    for (const one of manifests.filter(({ kind }) => kind === 'Deployment')) {
      expect(podOf(one)?.terminationGracePeriodSeconds).toBeGreaterThan(35);
    }
  });
});

test('inference decodes in a sandbox or not at all', () => {
  const deployments = all.filter(({ manifest }) => nameOf(manifest) === 'Deployment/vision-inference');
  expect(deployments).toHaveLength(goldens.length);
  for (const { manifest } of deployments) {
    expect(podOf(manifest)?.containers[0]?.env).toContainEqual({ name: 'SANDBOX', value: 'require' });
  }
});

test('the chart brings every dashboard', () => {
  const maps = all.filter(({ manifest }) => nameOf(manifest).startsWith('ConfigMap/vision-dashboard-'));
  expect(maps.length % dashboards.length).toBe(0);
  expect(maps.length).toBeGreaterThan(0);
});

const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;

function containersOf(manifests: Manifest[]) {
  return manifests.flatMap((one) => (podOf(one)?.containers ?? []).map((container) => ({ one, container })));
}
