import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { root, say } from '../../local/settings.ts';
import type { Settings } from '../../local/settings.ts';
import { chartDir } from '../examples.ts';
import { chartArchive, pushChart, pushImages, registryAddress, startRegistry } from '../registry.ts';
import type { PushedChart } from '../registry.ts';
import { run } from '../tools.ts';
import type { PreviousRelease } from './previous.ts';
import type { RunImages } from './values.ts';

/** A chart, and the images that it runs. */
export interface RunSource {
  chart: string | PushedChart;
  images: RunImages;
  /** Components that the chart has, when not those of today. */
  components?: string[];
}

/** The chart of a release from its sources: it may lack components that came later. */
export function sourceOf({ folder, version }: PreviousRelease): RunSource {
  const chart = join(folder, 'charts/vision');
  const { components } = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as { components: object };
  return { chart, images: { registry: 'localhost', tag: version }, components: Object.keys(components) };
}

/** What is run of this checkout: its chart with the images of `make images`, or the release in the folder RELEASE. */
export async function thisSource(settings: Settings, helm: string): Promise<RunSource> {
  const given = process.env['RELEASE'];
  if (!given) return { chart: chartDir, images: { registry: 'localhost', tag: process.env['IMAGE_TAG'] || 'local' } };
  return releasedSource(settings, helm, resolve(root, given));
}

/** Chart and images as nodes get them: pushed to a registry, the images pulled by their digests. */
async function releasedSource(settings: Settings, helm: string, folder: string): Promise<RunSource> {
  await startRegistry(settings);
  const chart = pushChart(settings, helm, chartArchive(folder));
  const registry = registryAddress(settings);
  for (const [service, digest] of pushImages(settings, folder, chart.version)) {
    run('podman', ['pull', '--quiet', '--tls-verify=false', `${registry}/vision/${service}@${digest}`]);
    say('pulled', `vision/${service} by its digest`);
  }
  return { chart, images: { registry } };
}
