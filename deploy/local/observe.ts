import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ensureRunning } from './background.ts';
import { findProgram, installMissing } from './host-programs.ts';
import { allOrFirstError } from './infrastructure.ts';
import { jarsOf } from './jars.ts';
import { serviceNames } from './service-environment.ts';
import { dataDir, portOf, root, say, urlOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { answersOk } from './wait.ts';

/** What `make up OBSERVE=1` adds: Prometheus with the rules, reading all services, and Zipkin with their traces. */
export async function ensureObservation(settings: Settings): Promise<void> {
  installMissing(['java', 'mvn', 'prometheus']);
  await allOrFirstError([ensureZipkin(settings), ensureReceiver(settings), ensurePrometheus(settings)]);
}

/** Says where to look. */
export function announceObservation(settings: Settings): void {
  say('traces', `${urlOf(settings, 'traces')}/zipkin`);
  const prometheus = urlOf(settings, 'prometheus');
  say('metrics', `${prometheus}/classic/graph`);
  say('alerts', `${prometheus}/classic/alerts`);
  say('dashboards', 'need Grafana, which no registry of packages has: docker compose --profile observe brings it');
}

/** Starts the viewer of traces, which keeps spans in memory only. */
export async function ensureZipkin(settings: Settings): Promise<void> {
  const dir = jarsOf(settings, 'traces');
  const jar = readdirSync(dir).find((file) => file.startsWith('zipkin-server')) ?? '';
  const port = portOf(settings, 'traces');
  await ensureRunning(settings, {
    name: 'traces',
    command: 'java',
    args: ['-Xmx256m', '-XX:+UseSerialGC', '-jar', join(dir, jar), ...onLoopback(port)],
    port,
    env: { ...process.env, MEM_MAX_SPANS: '100000' },
    ready: () => answersOk(`${urlOf(settings, 'traces')}/health`),
  });
}

/** By itself it would listen on every address of the machine. */
const onLoopback = (port: number) =>
  Object.entries({ ip: '127.0.0.1', port, 'protocols[0]': 'http' }).map(
    ([name, value]) => `--armeria.ports[0].${name}=${value}`,
  );

async function ensureReceiver(settings: Settings): Promise<void> {
  const port = portOf(settings, 'otlp');
  await ensureRunning(settings, {
    name: 'otlp',
    command: process.execPath,
    args: [join(import.meta.dirname, 'traces/receive.ts'), String(port), urlOf(settings, 'traces')],
    port,
    ready: () => answersOk(`${urlOf(settings, 'otlp')}/health`),
  });
}

async function ensurePrometheus(settings: Settings): Promise<void> {
  const data = dataDir(settings, 'prometheus');
  const port = portOf(settings, 'prometheus');
  const text = stringify(prometheusConfig(settings));
  const file = join(settings.localDir, 'prometheus.yml');
  mkdirSync(data, { recursive: true });
  writeFileSync(file, text);
  await ensureRunning(settings, {
    name: 'prometheus',
    command: findProgram('prometheus') ?? 'prometheus',
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${data}`,
      '--storage.tsdb.retention.time=3d',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    port,
    fingerprint: text,
    ready: () => answersOk(`${urlOf(settings, 'prometheus')}/-/ready`),
  });
}

/** The labels are those that rules and dashboards go by, as in Kubernetes. */
function prometheusConfig(settings: Settings) {
  const targets = serviceNames.map((service) => ({
    targets: [`127.0.0.1:${portOf(settings, `${service}Health`)}`],
    labels: { namespace: 'local', service, pod: service },
  }));
  return {
    global: { scrape_interval: '5s', evaluation_interval: '15s' },
    rule_files: [join(root, 'charts/vision/files/alerts.yaml')],
    scrape_configs: [{ job_name: 'vision', static_configs: targets }],
  };
}
