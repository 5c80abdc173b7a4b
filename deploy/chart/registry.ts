import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureRunning } from '../local/background.ts';
import { findProgram, installMissing } from '../local/host-programs.ts';
import { dataDir, portOf, say, urlOf } from '../local/settings.ts';
import type { Settings } from '../local/settings.ts';
import { answersOk } from '../local/wait.ts';
import { run } from './tools.ts';

/** Address of the registry, as names of images and charts begin. */
export const registryAddress = (settings: Settings) => `127.0.0.1:${portOf(settings, 'registry')}`;

/** Debian's docker-registry on loopback, without TLS and without a login; its content is below the local folder. */
export async function startRegistry(settings: Settings): Promise<void> {
  installMissing(['registry', 'skopeo']);
  const folder = dataDir(settings, 'registry');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'config.yml');
  const config = {
    version: 0.1,
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(folder, 'content') } },
    http: { addr: registryAddress(settings) },
  };
  // Every JSON document is a YAML document.
  writeFileSync(file, JSON.stringify(config));
  await ensureRunning(settings, {
    name: 'registry',
    command: findProgram('registry') ?? 'docker-registry',
    args: ['serve', file],
    port: portOf(settings, 'registry'),
    ready: () => answersOk(`${urlOf(settings, 'registry')}/v2/`),
  });
}

/** A chart that lies in the registry. */
export interface PushedChart {
  reference: string;
  version: string;
}

/** Pushes the chart of a release, as docs/kubernetes.md says. */
export function pushChart(settings: Settings, helm: string, archive: string): PushedChart {
  const to = `oci://${registryAddress(settings)}/charts`;
  run(helm, ['push', archive, to, '--plain-http']);
  const version = basename(archive, '.tgz').replace(/^vision-/, '');
  say('registry', `${to}/vision ${version}`);
  return { reference: `${to}/vision`, version };
}

/** Pushes the images of a release; returns the digest that the registry gives for each, by service. */
export function pushImages(settings: Settings, folder: string, version: string): Map<string, string> {
  const archives = existsSync(join(folder, 'images')) ? readdirSync(join(folder, 'images')) : [];
  return new Map(
    archives.map((file) => {
      const service = basename(file, '.tar');
      const target = `docker://${registryAddress(settings)}/vision/${service}:${version}`;
      const archive = `oci-archive:${join(folder, 'images', file)}`;
      run('skopeo', ['copy', '--quiet', '--preserve-digests', '--dest-tls-verify=false', archive, target]);
      const digest = run('skopeo', ['inspect', '--tls-verify=false', '--format', '{{.Digest}}', target]).trim();
      say('registry', `vision/${service} ${digest}`);
      return [service, digest];
    }),
  );
}

/** The chart archive of a release. @throws Error when there is not exactly one. */
export function chartArchive(folder: string): string {
  const [archive, ...more] = readdirSync(join(folder, 'chart')).filter((file) => /^vision-.+\.tgz$/.test(file));
  if (archive === undefined || more.length > 0) throw new Error(`${folder}/chart has to hold one chart.`);
  return join(folder, 'chart', archive);
}
