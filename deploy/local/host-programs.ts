import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall } from './apt.ts';
import { mayInstall, say } from './settings.ts';

/** Debian package of each program; the first name of an entry that is found counts. */
const packages = {
  java: 'default-jdk-headless',
  mvn: 'maven',
  postgres: 'postgresql',
  redis: 'redis-server',
  ffmpeg: 'ffmpeg',
  bwrap: 'bubblewrap',
  python: 'python3 python3-venv',
  openssl: 'openssl',
  // For images and compose without Docker.
  buildah: 'buildah',
  podman: 'podman conmon catatonit',
  runc: 'runc',
  debootstrap: 'debootstrap',
  slirp4netns: 'slirp4netns',
  ip: 'iproute2',
  nft: 'nftables',
  // For the fault suite only.
  nginx: 'nginx libnginx-mod-rtmp',
  gstRtsp:
    'python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly',
  libfaketime: 'libfaketime',
  // For rules, dashboards and `make up OBSERVE=1`.
  promtool: 'prometheus',
  prometheus: 'prometheus',
  alertmanager: 'prometheus-alertmanager',
  amtool: 'prometheus-alertmanager',
  // A broker for tests of MQTT endpoints.
  mosquitto: 'mosquitto',
  // For `make release`.
  minisign: 'minisign',
  registry: 'docker-registry',
  skopeo: 'skopeo',
  // For the screenshots of `make why` and `make dashboards`.
  chromium: 'chromium-headless-shell',
  // For the chart only.
  haproxy: 'haproxy',
};

export type HostProgram = keyof typeof packages;

const finders: Partial<Record<HostProgram, () => string | undefined>> = {
  postgres: findPostgres,
  python: findPython,
  chromium: () => onPath('chromium-headless-shell') ?? onPath('chromium'),
  alertmanager: () => onPath('prometheus-alertmanager') ?? onPath('alertmanager'),
  redis: () => onPath('redis-server') ?? onPath('valkey-server'),
  registry: () => onPath('docker-registry'),
  nginx: () => existing('/usr/lib/nginx/modules/ngx_rtmp_module.so'),
  gstRtsp: () => globSync('/usr/lib/*/girepository-1.0/GstRtspServer-1.0.typelib')[0],
  mosquitto: () => onPath('mosquitto') ?? existing('/usr/sbin/mosquitto'),
  libfaketime: () => globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0],
};

/** Path of a program of the machine, or undefined. */
export function findProgram(program: HostProgram): string | undefined {
  return finders[program] ? finders[program]() : onPath(program);
}

export function isHostProgram(name: string): name is HostProgram {
  return Object.hasOwn(packages, name);
}

/** Debian packages of the programs that are not there. */
export function missingPackages(wanted: HostProgram[]): string[] {
  return wanted.filter((program) => findProgram(program) === undefined).flatMap((name) => packages[name].split(' '));
}

/**
 * Installs what is missing with apt when this process may; otherwise says in one sentence what to install. A command
 * calls it once, before it starts anything; tests never do.
 */
export function installMissing(wanted: HostProgram[]): void {
  const missing = wanted.filter((program) => findProgram(program) === undefined);
  if (missing.length > 0) {
    const names = missing.map((program) => packages[program]).join(' ');
    const sentence = `Missing programs: please install ${names} (Debian package names) and run this again.`;
    if (!mayInstall() || process.getuid?.() !== 0 || onPath('apt-get') === undefined) throw new Error(sentence);
    say('apt', `installing ${names}`);
    const failure = aptInstall(names.split(' '));
    if (failure !== undefined || missing.some((program) => findProgram(program) === undefined)) {
      throw new Error([sentence, ...(failure ? [`apt-get said: ${failure}`] : [])].join('\n'));
    }
  }
  requireJava17();
}

/** Debian keeps the server's programs out of PATH, one folder a version: the newest wins. */
function findPostgres(): string | undefined {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(base, version, 'bin/postgres')).find((path) => existsSync(path));
  return found ?? onPath('postgres');
}

/** A Python that can make virtual environments, which Debian packages separately. */
function findPython(): string | undefined {
  const python = onPath('python3');
  if (python === undefined) return undefined;
  return spawnSync(python, ['-c', 'import ensurepip, venv']).status === 0 ? python : undefined;
}

function requireJava17(): void {
  const java = findProgram('java');
  if (java === undefined) return;
  const text = spawnSync(java, ['-version'], { encoding: 'utf8' }).stderr;
  const version = Number(/version "(\d+)/.exec(text)?.[1] ?? 0);
  if (version < 17) throw new Error('Java 17 or newer is needed (Kafka and the S3 server): please install a JDK 17.');
}

const existing = (path: string) => (existsSync(path) ? path : undefined);

function onPath(name: string): string | undefined {
  const dirs = (process.env['PATH'] ?? '').split(delimiter);
  return dirs.map((dir) => join(dir, name)).find((path) => existsSync(path));
}
