import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { projectFiles } from './project-files.ts';

const root = join(import.meta.dirname, '..');

/** What a reader has to trust, as no compiler checks it. */
const CASTS_PER_1000_LINES = 2.5;
/** Every one of them is reviewed again when a template changes. */
const RENDERED_LINES = 5_000;

test('production code casts seldom', () => {
  const files = projectFiles(root, '{packages,services}/*/src/**/*.ts').filter(
    (path) => !/\.test\.ts$|\/testing\//.test(path) && path !== 'packages/client/src/public-api.ts',
  );
  const sources = files.map((path) => readFileSync(join(root, path), 'utf8'));
  const lines = sources.reduce((sum, source) => sum + linesOf(source), 0);
  const casts = sources.reduce((sum, source) => sum + castsOf(source), 0);
  expect(lines).toBeGreaterThan(10_000);
  expect((casts / lines) * 1000).toBeLessThanOrEqual(CASTS_PER_1000_LINES);
});

test('a cast counts, `as const` does not', () => {
  expect(
    castsOf("const a = 1 as number; const b = ['x'] as const; const c = <T>(d: T) => d as unknown as string;"),
  ).toBe(3);
});

test('the kept renders of the chart stay short enough to be read', () => {
  const renders = projectFiles(root, 'charts/vision/golden/*').map((path) => readFileSync(join(root, path), 'utf8'));
  const lines = renders.reduce((sum, render) => sum + linesOf(render), 0);
  expect(lines).toBeGreaterThan(0);
  expect(lines).toBeLessThanOrEqual(RENDERED_LINES);
});

const linesOf = (text: string) => text.split('\n').length - 1;

function castsOf(source: string): number {
  let casts = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) casts += 1;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest));
  return casts;
}
