import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../local/host-programs.ts';

/** What promtool says against a file and those that it names, given as their contents; empty when nothing. */
export function promtoolOn(command: 'check' | 'test', content: object, named: Record<string, object> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'vision-rules-'));
  try {
    const file = join(folder, 'rules.json');
    // Every JSON document is a YAML document.
    writeFileSync(file, JSON.stringify(content));
    for (const [name, other] of Object.entries(named)) writeFileSync(join(folder, name), JSON.stringify(other));
    return promtool([command, 'rules', file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same for a file that is there. */
export function promtool(args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(findProgram('promtool') ?? 'promtool', args, {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  return status === 0 ? '' : `${error?.message ?? ''}${stdout}${stderr}`;
}
