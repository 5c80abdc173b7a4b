import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { observe } from './instruments.ts';
import { processMetrics } from './shared-metrics.ts';

/** Tells which version runs here, so that a panel shows rollouts, and how large its heap may become. */
export function showProcess(): void {
  const labels = { version: ownVersion(), node: process.versions.node };
  observe(processMetrics.buildInfo, (tell) => tell(1, labels));
  const limit = getHeapStatistics().heap_size_limit;
  observe(processMetrics.heapLimit, (tell) => tell(limit));
}

/** The version of the system, which all its packages share. */
function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
