import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from '../local/settings.ts';
import { output } from './engine.ts';
import type { Engine } from './engine.ts';

interface Component {
  type: 'library' | 'platform';
  name: string;
  version: string;
  purl: string;
  'bom-ref': string;
  licenses?: { expression: string }[] | { license: { name: string } }[];
}

interface NpmPackage {
  name?: string;
  version?: string;
  license?: unknown;
}

/** Prints one line of JSON for each package.json of a package below /app, and last the version of Node.js. */
const LIST_PACKAGES = `
  const { globSync, readFileSync } = require('node:fs');
  for (const file of globSync('/app/**/node_modules/{*,@*/*}/package.json')) {
    const { name, version, license } = JSON.parse(readFileSync(file, 'utf8'));
    console.log(JSON.stringify({ name, version, license }));
  }
  console.log(JSON.stringify({ name: 'node', version: process.versions.node, license: 'MIT' }));`;

/**
 * Writes the bill of materials of an image, in CycloneDX: what is really in it, packages of npm and of Debian and
 * Node.js itself. Returns where it is.
 */
export function writeSbom(engine: Engine, service: string, image: string): string {
  const inside = (command: string[]) => output([engine.name, 'run', '--rm', ...runFlags(engine), image, ...command]);
  const packages = lines(inside(['node', '-e', LIST_PACKAGES])).map((line) => JSON.parse(line) as NpmPackage);
  const debian = lines(inside(['dpkg-query', '-W', '-f', '${Package}\\t${Version}\\t${Architecture}\\n']));
  const components = [...packages.flatMap(ofNpm), ...debian.map(ofDebian)];
  const unique = new Map(components.map((component) => [component.purl, component]));
  const file = join(root, `.local/images/${service}.cdx.json`);
  mkdirSync(join(root, '.local/images'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document(image, [...unique.values()]), null, 2)}\n`);
  say('sbom', `${file.slice(root.length + 1)}: ${unique.size} components`);
  return file;
}

/** Asks the registry for known faults of what the images run on. @throws Error when there are severe ones. */
export function auditPackages(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) say('audit', 'the registry knows of no severe fault in what the images run on');
  else if (/audit endpoint returned an error|ENOAUDIT|ENOTFOUND/.test(stderr))
    say('audit', 'NOT DONE: this registry answers no questions about faults');
  else throw new Error(`npm audit found faults:\n${stdout}`);
}

function ofNpm({ name, version, license }: NpmPackage): Component[] {
  // Folders of packages hold package.json files of their own that name nothing.
  if (!name || !version) return [];
  const purl = `pkg:${name === 'node' ? 'generic' : 'npm'}/${name.replace('@', '%40')}@${version}`;
  const licenses = typeof license === 'string' ? { licenses: [{ expression: license }] } : {};
  return [{ type: name === 'node' ? 'platform' : 'library', name, version, purl, 'bom-ref': purl, ...licenses }];
}

function ofDebian(line: string): Component {
  const [name = '', version = '', architecture = ''] = line.split('\t');
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { type: 'library', name, version, purl, 'bom-ref': purl };
}

function document(image: string, components: Component[]) {
  const [name = '', version = ''] = image.split(':');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: new Date().toISOString(), component: { type: 'container', name, version } },
    components,
  };
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/** Podman's own limits are more than a machine may give away, and its timers need systemd. */
function runFlags(engine: Engine): string[] {
  if (engine.name === 'docker') return ['--network=none'];
  const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096'];
  return ['--network=none', '--runtime=runc', '--no-healthcheck', '--log-driver=k8s-file', ...limits];
}
