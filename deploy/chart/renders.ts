import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, createTwoFilesPatch } from 'diff';
import { Document, visit } from 'yaml';
import { goldenDir } from './examples.ts';
import { parseManifests } from './manifests.ts';
import type { Manifest } from './manifests.ts';

/** Renders that are kept as the difference to another one. */
const baseOf: Record<string, string> = {
  triton: 'managed',
  operators: 'managed',
  'one-node': 'operators',
  'cert-manager': 'operators',
};

/** Longest collection that is written in one line, and longest content of an object that is kept as it is. */
const [LINE, CONTENT] = [120, 2_000];

/**
 * The objects of a render as they are kept: one line for each short list or map, and a checksum in place of long files
 * (dashboards, rules), whose sources are kept already.
 */
export function keptForm(rendered: string): string {
  return parseManifests(rendered).map(toText).join('---\n');
}

function toText(manifest: Manifest): string {
  const document = new Document(withChecksum(manifest), { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_key, node) => {
      node.flow = JSON.stringify(node.toJSON()).length < LINE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

function withChecksum(manifest: Manifest): Manifest {
  const field = { ConfigMap: 'data', PrometheusRule: 'spec' }[manifest.kind];
  const content = JSON.stringify(Object.entries(manifest).filter(([key]) => key === field));
  if (field === undefined || content.length <= CONTENT) return manifest;
  return { ...manifest, [field]: `sha256:${createHash('sha256').update(content).digest('hex').slice(0, 16)}` };
}

/** The kept render of an example, in its kept form; undefined when none is kept. */
export function keptRender(name: string): string | undefined {
  const file = fileOf(name);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const base = baseOf[name];
  if (base === undefined) return text;
  const applied = applyPatch(keptRender(base) ?? '', text);
  return applied === false ? undefined : applied;
}

/** The objects of a kept render. */
export const keptManifests = (name: string): Manifest[] => parseManifests(keptRender(name) ?? '');

/** Keeps a render; that of its base has to be kept before. */
export function keepRender(name: string, text: string): void {
  const base = baseOf[name];
  mkdirSync(goldenDir, { recursive: true });
  writeFileSync(fileOf(name), base === undefined ? text : differenceTo(base, name, text));
  if (keptRender(name) !== text) throw new Error(`${name}: what was kept does not lead back to the render`);
}

function differenceTo(base: string, name: string, text: string): string {
  return createTwoFilesPatch(base, name, keptRender(base) ?? '', text, undefined, undefined, { context: 0 });
}

const fileOf = (name: string) => join(goldenDir, baseOf[name] === undefined ? `${name}.yaml` : `${name}.diff`);
