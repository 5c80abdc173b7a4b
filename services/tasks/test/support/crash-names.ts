import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Names of all crash points in the sources of this service. */
export function crashNames(): string[] {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));
  const texts = globSync('**/*.ts', { cwd: root }).map((file) => readFileSync(root + file, 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/crashPoint\('([^']+)'\)/g)].map((match) => match[1] ?? ''));
  return [...new Set(names)].sort();
}
