import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { run } from '../tools.ts';
import type { PushedChart } from '../registry.ts';

/** What Helm renders of a chart, a folder or one in the registry of this machine, for these values. */
export function renderRun(helm: string, dir: string, chart: string | PushedChart, values: object): string {
  const file = join(dir, 'values.yaml');
  writeFileSync(file, stringify(values));
  const source = typeof chart === 'string' ? [chart] : [chart.reference, '--version', chart.version, '--plain-http'];
  return run(helm, ['template', 'vision', ...source, '--kube-version', '1.33.0', '--values', file]);
}
