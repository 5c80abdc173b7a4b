import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { builtCommit } from './built-commit.ts';
import { observe } from './instruments.ts';
import { readMemory } from './memory.ts';
import { processMetrics } from './shared-metrics.ts';

/** Tells which version runs here, so that a panel shows rollouts, and how much of what it may take it takes. */
export function showProcess(): void {
  const labels = {
    version: ownVersion(),
    commit: builtCommit(new URL('../../../../commit.txt', import.meta.url)),
    node: process.versions.node,
  };
  observe(processMetrics.buildInfo, (tell) => tell(1, labels));
  const limit = getHeapStatistics().heap_size_limit;
  observe(processMetrics.heapLimit, (tell) => tell(limit));
  observe(processMetrics.memory, (tell) => {
    const memory = readMemory();
    tell(memory.used, { kind: 'used' });
    tell(memory.limit, { kind: 'limit' });
  });
  observe(processMetrics.tmp, (tell) => {
    const { blocks, bavail, bsize } = statfsSync(tmpdir());
    tell((blocks - bavail) * bsize, { kind: 'used' });
    tell(blocks * bsize, { kind: 'limit' });
  });
}

/** The version of the system, which all its packages share. */
function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
