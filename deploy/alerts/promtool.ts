import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../local/host-programs.ts';

/** What promtool says against a file, given as its content; empty when nothing. */
export function promtoolOn(command: 'check' | 'test', content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'vision-rules-'));
  try {
    const file = join(folder, 'rules.json');
    // Every JSON document is a YAML document.
    writeFileSync(file, JSON.stringify(content));
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
