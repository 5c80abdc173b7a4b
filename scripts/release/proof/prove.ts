import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { chartDir } from '../../../deploy/chart/examples.ts';
import { chartArchive, pushChart, pushImages, registryAddress, startRegistry } from '../../../deploy/chart/registry.ts';
import type { PushedChart } from '../../../deploy/chart/registry.ts';
import { renderRun } from '../../../deploy/chart/run/render.ts';
import { runValues } from '../../../deploy/chart/run/values.ts';
import { ensureTools, run } from '../../../deploy/chart/tools.ts';
import { say } from '../../../deploy/local/settings.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import { provenanceProblems } from './origin.ts';
import { imagesIn, renderDifferences } from './renders.ts';
import { isVerified, tamper } from './tampering.ts';

interface Release {
  folder: string;
  version: string;
  commit: string;
  publicKey: string;
}

/**
 * Does with a release what docs/kubernetes.md tells an operator to do, against a registry on loopback, and with copies
 * of it what an attacker would. @throws Error naming what did not hold.
 */
export async function proveRelease(settings: Settings, release: Release): Promise<void> {
  await proveSignature(settings, release);
  await startRegistry(settings);
  const digests = pushImages(settings, release.folder, release.version);
  const { helm, helm4 } = ensureTools();
  const chart = pushChart(settings, helm, chartArchive(release.folder));
  for (const program of [helm, helm4]) {
    provePull(settings, program, chart, release);
    proveRender(settings, program, chart, digests);
  }
  for (const service of digests.keys()) proveRevision(settings, service, release);
}

async function proveSignature(settings: Settings, { folder, commit, publicKey }: Release): Promise<void> {
  if (!isVerified(folder, publicKey)) throw new Error(`${folder} is not what the holder of ${publicKey} signed.`);
  const problems = provenanceProblems(folder, commit);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  say('verified', 'signature, checksums and provenance');
  mkdirSync(settings.localDir, { recursive: true });
  const { refused, taken } = await tamper(folder, settings.localDir, publicKey);
  for (const what of refused) say('refused', what);
  if (taken.length > 0) throw new Error(`verify.sh took ${taken.join(', ')}.`);
}

/** The chart comes back from the registry byte for byte. */
function provePull(settings: Settings, helm: string, chart: PushedChart, { folder }: Release): void {
  const target = join(settings.localDir, 'pulled');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const from = [chart.reference, '--version', chart.version, '--plain-http'];
  run(helm, ['pull', ...from, '--destination', target]);
  const signed = chartArchive(folder);
  if (sha256(join(target, basename(signed))) !== sha256(signed))
    throw new Error('helm pull gave another chart than the one that was signed.');
  say('pulled', `${chart.reference} ${chart.version} by ${versionOf(helm)}`);
}

/** What the registry's chart renders is what `make chart-run` runs of the checkout, with the images of the release. */
function proveRender(settings: Settings, helm: string, chart: PushedChart, digests: Map<string, string>): void {
  const registry = registryAddress(settings);
  const released = renderRun(helm, settings.localDir, chart, runValues(settings, { registry }));
  const local = runValues(settings, { registry: 'localhost', tag: 'local' });
  const differences = renderDifferences(renderRun(helm, settings.localDir, chartDir, local), released);
  if (differences.length > 0) throw new Error(`The chart of the release renders otherwise:\n${differences.join('\n')}`);
  const images = imagesIn(released);
  const expected = [...digests].map(([service, digest]) => `${registry}/vision/${service}@${digest}`);
  const missing = expected.filter((image) => !images.includes(image));
  if (missing.length > 0) throw new Error(`The chart of the release does not run ${missing.join(', ')}.`);
  if (digests.size > 0 && images.length !== digests.size)
    throw new Error(`The chart of the release runs images that it does not have: ${images.join(', ')}.`);
  say('rendered', `as make chart-run does, ${images.length} images by ${digests.size > 0 ? 'digest' : 'tag'}`);
}

/** An image names the commit it was built from. */
function proveRevision(settings: Settings, service: string, { version, commit }: Release): void {
  const image = `docker://${registryAddress(settings)}/vision/${service}:${version}`;
  const format = '{{index .Labels "org.opencontainers.image.revision"}} {{.Os}}/{{.Architecture}}';
  const found = run('skopeo', ['inspect', '--tls-verify=false', '--format', format, image]).trim();
  const [revision, platform = ''] = found.split(' ');
  if (revision !== commit) throw new Error(`vision/${service} was built from ${revision ?? ''}, not ${commit}.`);
  say('image', `vision/${service} of ${commit.slice(0, 12)} for ${platform}`);
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const versionOf = (helm: string) => `Helm ${run(helm, ['version', '--short']).trim()}`;
