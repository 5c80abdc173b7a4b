import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './engine/fuzzer.ts';

/** Inputs that are kept with the sources: by hand under a name, by a run under the hash of their content. */
export const KEPT = join(import.meta.dirname, 'corpus');

export interface CorpusEntry {
  name: string;
  bytes: Buffer;
}

export function readCorpus(folder: string, target: string): CorpusEntry[] {
  const path = join(folder, target);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(path, name)) }));
}

/** Replaces what earlier runs have left there; what has a name of its own stays. */
export function writeCorpus(folder: string, target: string, inputs: readonly Buffer[]): void {
  const path = join(folder, target);
  mkdirSync(path, { recursive: true });
  for (const name of readdirSync(path)) if (/^[0-9a-f]{16}$/.test(name)) rmSync(join(path, name));
  const named = readCorpus(folder, target);
  for (const bytes of inputs) {
    if (!named.some((entry) => entry.bytes.equals(bytes))) writeFileSync(join(path, nameOf(bytes)), bytes);
  }
}

export function writeFinding(folder: string, target: string, input: Buffer): string {
  const path = join(folder, target);
  mkdirSync(path, { recursive: true });
  const file = join(path, `finding-${nameOf(input)}`);
  writeFileSync(file, input);
  return file;
}
