import { beforeAll, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prometheusName, seriesOf } from '@vision/shared/telemetry/metric';
import { until } from '@vision/shared/testing/until';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import { readSettings, root, urlOf } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { dashboardFiles } from '../../deploy/dashboards/all.ts';
import { startLiveSource } from '../../examples/live-source.ts';
import { metricCatalogue } from '../../scripts/docs/metric-catalogue.ts';
import { metricNamesIn, metricUses } from '../../scripts/docs/metric-uses.ts';
import { Caller, examples } from '../support/system.ts';
import { readMetrics } from '../support/metrics.ts';
import type { Scrape } from '../support/metrics.ts';
import { results, untilStatus } from '../support/video.ts';

const settings = await testSettings(readSettings(), process.env);
const groups = await metricCatalogue(root);
const scrapes = new Map<string, Scrape>();

beforeAll(async () => {
  await watchLiveStream();
  for (const service of serviceNames) {
    const reply = await fetch(`${urlOf(settings, `${service}Health`)}/metrics`);
    scrapes.set(service, readMetrics(await reply.text()));
  }
});

/** The other tests need no camera; panels of live streams do. */
async function watchLiveStream(): Promise<void> {
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  try {
    const caller = await Caller.create();
    const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
    const taskId = String(created.body['task_id']);
    await until(async () => (await results(caller, taskId)).items.length > 0);
    await caller.stop(taskId);
    await untilStatus(caller, taskId, 'stopped');
  } finally {
    camera.close();
  }
}

test('every metric that a panel or a rule asks for is one that a process has', () => {
  const had = new Set([...scrapes.values()].flatMap(({ families }) => [...families.keys()]));
  const families = new Map(
    groups.flatMap(({ metrics }) =>
      metrics.flatMap((metric) => seriesOf(metric).map((series) => [series, prometheusName(metric)] as const)),
    ),
  );
  for (const { where, expr } of metricUses(root, dashboardFiles())) {
    const missing = metricNamesIn(expr).filter((name) => name !== 'up' && !had.has(families.get(name) ?? name));
    expect({ where, missing }).toEqual({ where, missing: [] });
  }
});

test('every metric of a process is declared for its service with the labels that it has, and each of those is there', () => {
  for (const [service, { families }] of scrapes) {
    const declared = new Map(
      groups
        .filter((group) => group.services.includes(service))
        .flatMap(({ metrics }) => metrics.map((metric) => [prometheusName(metric), metric] as const)),
    );
    const notMade = [...declared.keys()].filter((name) => !families.has(name));
    expect({ service, notMade }).toEqual({ service, notMade: [] });
    for (const [name, samples] of families) {
      if (name === 'target_info') continue;
      const labels = Object.entries(declared.get(name)?.labels ?? {}).map(
        ([label, values]) => [label.replaceAll('.', '_'), values] as const,
      );
      expect({ service, name, isDeclared: declared.has(name) }).toEqual({ service, name, isDeclared: true });
      for (const sample of samples) {
        const allowed = new Map([...labels, ['otel_scope_name', ''], ['otel_scope_version', ''], ['le', '']] as const);
        for (const [label, value] of Object.entries(sample.labels)) {
          const values = allowed.get(label);
          const isListed = values !== undefined && (typeof values === 'string' || values.includes(value));
          expect({ service, name, label, value, isListed }).toEqual({ service, name, label, value, isListed: true });
        }
      }
    }
  }
});

test('what the run went through has left its numbers', () => {
  const total = (service: string, name: string, labels: Record<string, string> = {}) =>
    (scrapes.get(service)?.samples ?? [])
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  const numbers: [service: string, series: string, labels?: Record<string, string>][] = [
    ['gateway', 'vision_gateway_requests_total', { operation: 'createImageDetection', status: '201' }],
    ['gateway', 'vision_gateway_requests_total', { status: '400', code: 'OP-TASK-REQUEST-INVALID' }],
    ['gateway', 'vision_gateway_request_duration_seconds_count', { status_class: '2xx' }],
    ['gateway', 'vision_upstream_duration_seconds_count', { upstream: 'images', outcome: 'ok' }],
    ['images', 'vision_images_call_duration_seconds_count'],
    ['images', 'vision_upstream_duration_seconds_count', { upstream: 'inference', operation: 'detect' }],
    ['images', 'vision_db_pool_wait_seconds_count'],
    ['tasks', 'vision_tasks_moves_total', { move: 'stop' }],
    ['quota', 'vision_quota_reserves_total', { kind: 'image', outcome: 'granted' }],
    ['inference', 'vision_frames_read_total', { kind: 'live' }],
    ['inference', 'vision_frames_read_total', { kind: 'file' }],
    ['inference', 'vision_frames_sampled_total'],
    ['results', 'vision_results_readable_age_seconds_count', { kind: 'live' }],
    ['results', 'vision_consumer_partitions', { group: 'results-frames' }],
    ['results', 'vision_build_info'],
  ];
  for (const [service, series, labels] of numbers)
    expect({ service, series, labels, isThere: total(service, series, labels) > 0 }).toEqual({
      service,
      series,
      labels,
      isThere: true,
    });
});

test('every line that the services wrote is JSON, with fields that docs/logs.md names', () => {
  const document = readFileSync(join(root, 'docs/logs.md'), 'utf8');
  const entries = [...document.matchAll(/^- (`[^:]*?`)(?::|$|\n)/gm)].flatMap(
    ([, names = '']) => names.match(/\w+/g) ?? [],
  );
  const known = new Set(entries);
  const folder = join(settings.localDir, 'log');
  const files = readdirSync(folder).filter((file) => serviceNames.some((service) => file === `${service}.log`));
  expect(files).toHaveLength(serviceNames.length);
  for (const file of files) {
    for (const text of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (text === '') continue;
      expect({ file, text }).toEqual({ file, text: expect.stringMatching(/^\{.*\}$/) });
      const line = JSON.parse(text) as Record<string, unknown> & { msg: string };
      // What the library for Kafka tells is its own.
      if (line.msg.startsWith('kafka:')) continue;
      const unknown = Object.keys(line).filter((field) => !known.has(field));
      expect({ file, msg: line.msg, unknown }).toEqual({ file, msg: line.msg, unknown: [] });
    }
  }
});
