/**
 * `make chart`: everything about the chart that needs no cluster. `UPDATE=1 make chart` writes the renders in
 * charts/vision/golden anew instead of comparing them.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { stringify } from 'yaml';
import { say } from '../local/settings.ts';
import { againstDefinitions, isOfKubernetes } from './custom-kinds.ts';
import type { Schema } from './custom-kinds.ts';
import { readDefinitions } from './definitions.ts';
import { chartDir, examples, kubernetesVersions, renderArguments, withoutChance } from './examples.ts';
import { nameOf, parseManifests } from './manifests.ts';
import type { Manifest } from './manifests.ts';
import { keepRender, keptForm, keptRender } from './renders.ts';
import { againstRestricted } from './restricted.ts';
import { sourcesDigest, sourcesFile } from './sources.ts';
import { ensureTools, run } from './tools.ts';
import type { Tools } from './tools.ts';

/** The version whose renders are kept. */
const GOLDEN = '1.33.0';

interface Checks extends Tools {
  definitions: Map<string, Schema>;
}

const isUpdate = Boolean(process.env['UPDATE']);
const scratch = mkdtempSync(join(tmpdir(), 'vision-chart-'));
try {
  const tools = { ...ensureTools(), definitions: readDefinitions() };
  lint(tools);
  say('unittest', lastLines(run(tools.helmUnittest, ['--strict', '--file', 'tests/*_test.yaml', chartDir])));
  for (const [name, files] of Object.entries(examples)) checkExample(tools, name, files);
  checkOperators(tools);
  if (isUpdate) writeFileSync(sourcesFile, `${sourcesDigest()}\n`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function lint({ helm, helm4 }: Tools): void {
  for (const [name, files] of Object.entries(examples)) {
    const values = files.flatMap((file) => ['--values', join(chartDir, 'examples', `${file}.yaml`)]);
    // Lint has no --api-versions, so what needs other kinds is left out.
    const off = ['httpRoute.enabled', 'metrics.podMonitor.enabled', 'metrics.prometheusRule.enabled'];
    const keda = 'components.results.autoscaling.keda.enabled';
    const without = [...off, keda].flatMap((value) => ['--set', `${value}=false`]);
    for (const each of [helm, helm4])
      run(each, ['lint', '--strict', '--kube-version', GOLDEN, chartDir, ...values, ...without]);
    say('lint', name);
  }
}

function checkExample(tools: Checks, name: string, files: string[]): void {
  for (const version of kubernetesVersions) {
    const rendered = withoutChance(run(tools.helm, renderArguments(files, version)));
    const manifests = parseManifests(rendered);
    checkNames(manifests, name);
    checkRestricted(manifests, name);
    checkSchemas(tools, manifests, { name, version });
    if (version !== GOLDEN) continue;
    checkRules(tools, manifests);
    checkHelm4(tools, manifests, { name, files });
    compare(name, rendered);
  }
  say('example', `${name}: Kubernetes ${kubernetesVersions.join(', ')}`);
}

/** Helm 4 writes other blank lines; what it renders has to be the same. */
function checkHelm4({ helm4 }: Tools, manifests: Manifest[], { name, files }: { name: string; files: string[] }): void {
  const others = parseManifests(withoutChance(run(helm4, renderArguments(files, GOLDEN))));
  const texts = (all: Manifest[]) => new Map(all.map((one) => [nameOf(one), JSON.stringify(one)]));
  const [ours, theirs] = [texts(manifests), texts(others)];
  const different = [...new Set([...ours.keys(), ...theirs.keys()])].filter((one) => ours.get(one) !== theirs.get(one));
  if (different.length > 0) throw new Error(`${name}: Helm 4 renders otherwise: ${different.join(', ')}`);
}

function checkNames(manifests: Manifest[], name: string): void {
  const names = manifests.map(nameOf);
  const twice = names.filter((one, index) => names.indexOf(one) !== index);
  if (twice.length > 0) throw new Error(`${name}: rendered twice: ${twice.join(', ')}`);
}

function checkRestricted(manifests: Manifest[], name: string): void {
  const faults = manifests.flatMap((one) => againstRestricted(one).map((fault) => `${name}: ${nameOf(one)}: ${fault}`));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Kinds of Kubernetes itself by the schemas of one version, the others by their definitions; no unknown fields. */
function checkSchemas(tools: Checks, manifests: Manifest[], example: { name: string; version: string }): void {
  const file = join(scratch, `${example.name}.yaml`);
  const own = manifests.filter(isOfKubernetes);
  writeFileSync(file, own.map((one) => stringify(one)).join('---\n'));
  run(tools.kubernetesValidate, ['--strict', '-k', example.version.replace(/\.0$/, ''), file]);
  const others = manifests.filter((one) => !isOfKubernetes(one));
  const faults = againstDefinitions(others, tools.definitions);
  if (faults.length > 0) throw new Error(faults.map((fault) => `${example.name}: ${fault}`).join('\n'));
}

/** What the examples give the operators that make the stores. */
function checkOperators(tools: Checks): void {
  const hasStrimzi = tools.definitions.has('kafka.strimzi.io/v1/Kafka');
  for (const file of globSync(join(chartDir, 'examples/operators/*.yaml'))) {
    const name = basename(file, '.yaml');
    const manifests = parseManifests(readFileSync(file, 'utf8'));
    const known = manifests.filter(({ apiVersion }) => hasStrimzi || !apiVersion.startsWith('kafka.strimzi.io/'));
    checkSchemas(tools, known, { name, version: GOLDEN });
    say('operators', `${name}: ${known.length} of ${manifests.length} objects`);
  }
}

function checkRules({ promtool }: Tools, manifests: Manifest[]): void {
  for (const { kind, spec } of manifests) {
    if (kind !== 'PrometheusRule') continue;
    const file = join(scratch, 'rules.yaml');
    writeFileSync(file, stringify(spec));
    run(promtool, ['check', 'rules', file]);
  }
}

function compare(name: string, rendered: string): void {
  const text = keptForm(rendered);
  if (isUpdate) {
    keepRender(name, text);
    return;
  }
  const kept = keptRender(name) ?? '';
  if (kept === text) return;
  const difference = createTwoFilesPatch('kept', 'rendered', kept, text).split('\n').slice(0, 60).join('\n');
  throw new Error(`${name} renders otherwise than it is kept; "UPDATE=1 make chart" keeps it:\n${difference}`);
}

function lastLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith('Tests:'))
    .join(' ');
}
