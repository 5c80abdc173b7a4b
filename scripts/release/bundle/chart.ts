import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { root } from '../../../deploy/local/settings.ts';
import { ensureTools, run } from '../../../deploy/chart/tools.ts';

/** Packs the chart with its version, and with the digests of the images that it runs where they were built. */
export function writeChart(folder: string, version: string, digests: Record<string, string>): void {
  const scratch = mkdtempSync(join(tmpdir(), 'vision-release-chart-'));
  const chart = join(scratch, 'vision');
  try {
    cpSync(join(root, 'charts/vision'), chart, { recursive: true });
    for (const [file, change] of Object.entries({
      'values.yaml': (text: string) => pinned(text, digests),
      'Chart.yaml': (text: string) => text.replaceAll(/(image: vision\/\w+):\S+/g, `$1:${version}`),
    })) {
      const path = join(chart, file);
      writeFileSync(path, change(readFileSync(path, 'utf8')));
    }
    const target = join(folder, 'chart');
    mkdirSync(target, { recursive: true });
    const versions = ['--version', version, '--app-version', version];
    run(ensureTools().helm, ['package', chart, ...versions, '--destination', target]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A digest wins over a tag, so a tag that is moved later changes nothing. */
export function pinned(values: string, digests: Record<string, string>): string {
  const document = parseDocument(values);
  for (const [name, digest] of Object.entries(digests)) document.setIn(['components', name, 'image'], { digest });
  return document.toString({ lineWidth: 0 });
}
