import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What readers of streams allow at most is named like this everywhere in them. */
const BOUND = /^((?:export )?const (?:(?:MAX|MOST)_\w+|\w+_PER_M?S) = ).+;$/gm;
/** Sizes that both sides of a pipe agree on, and ranges of a protocol: no bounds of what a stranger may send. */
const AGREED = /MAX_(FACT_BYTES|PAYLOAD_TYPE)/;
const FEWEST = 20;

/** The same source without its bounds. Half of 32 bits: what counts beyond it would wrap. */
export function withoutBounds(source: string): { source: string; removed: number } {
  let removed = 0;
  const changed = source.replaceAll(BOUND, (line: string, declaration: string) => {
    if (AGREED.test(line)) return line;
    removed += 1;
    return `${declaration}2 ** 30;`;
  });
  return { source: changed, removed };
}

export interface HostileBuild {
  /** Of a service inference whose readers of streams check no bounds; packages are those of this tree. */
  folder: string;
  removed: number;
  delete: () => void;
}

/** Copies inference and takes the bounds of its readers out of the copy. No setting of the service does that. */
export function hostileBuild(): HostileBuild {
  const base = join(root, '.local/hostile-build');
  const folder = join(base, 'services/inference');
  rmSync(base, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const part of ['src', 'package.json']) {
    cpSync(join(root, 'services/inference', part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'services/inference/models'), join(folder, 'models'));
  const inputs = join(folder, 'src/inputs');
  let removed = 0;
  for (const name of readdirSync(inputs, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const changed = withoutBounds(readFileSync(join(inputs, name), 'utf8'));
    writeFileSync(join(inputs, name), changed.source);
    removed += changed.removed;
  }
  if (removed < FEWEST) throw new Error(`${removed} bounds were taken out, ${FEWEST} at least were expected`);
  return { folder, removed, delete: () => rmSync(base, { recursive: true, force: true }) };
}
