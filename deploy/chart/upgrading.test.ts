import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartDir } from './examples.ts';

const read = (path: string) => readFileSync(join(chartDir, path), 'utf8');
const upgrading = read('UPGRADING.md');

test('every setting that is taken without effect is named', () => {
  const { components } = JSON.parse(read('files/facts.json')) as { components: Record<string, { retired: string[] }> };
  const retired = new Set(Object.values(components).flatMap((component) => component.retired));
  const lists = [...upgrading.matchAll(/^- These settings [^]*?remove them\.\s+([^]*?)\.\n/gm)];
  const names = lists.flatMap(([, listed = '']) => [...listed.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name));
  expect(names.sort()).toEqual([...retired].sort());
});

test('what changes is said to readers of a catalogue of charts too', () => {
  const { annotations } = parse(read('Chart.yaml')) as { annotations: Record<string, string> };
  const changes = parse(annotations['artifacthub.io/changes'] ?? '') as { kind: string; description: string }[];
  const kinds = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'];
  expect(changes.filter(({ kind }) => !kinds.includes(kind))).toEqual([]);
  expect(changes.map(({ description }) => description)).not.toContain('The first chart.');
  expect(changes.length).toBeGreaterThan(3);
});
