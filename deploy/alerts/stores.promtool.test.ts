import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { root } from '../local/settings.ts';
import { promtoolOn } from './promtool.ts';
import type { Series } from './series.ts';

/** The rules beside the operators' examples. */
interface RuleObject {
  kind: string;
  spec: { groups: { rules: { alert: string; labels: Record<string, string>; annotations: { runbook: string } }[] }[] };
}
const examples = join(root, 'charts/vision/examples/operators');
const objectsOf = (file: string) =>
  parseAllDocuments(readFileSync(join(examples, file), 'utf8')).map((document) => document.toJS() as RuleObject);
const { spec } = objectsOf('alerts.yaml').find(({ kind }) => kind === 'PrometheusRule') as RuleObject;
const rules = spec.groups.flatMap((group) => group.rules);

const volume = (claim: string, used: string): Series => ({
  [`kubelet_volume_stats_used_bytes{namespace="data",persistentvolumeclaim="${claim}"}`]: used,
  [`kubelet_volume_stats_capacity_bytes{namespace="data",persistentvolumeclaim="${claim}"}`]: '100x3000',
});

const backupAt = (values: string): Series => ({
  'cnpg_collector_last_available_backup_timestamp{namespace="data",pod="vision-db-1"}': values,
  // A standby that has not heard of it yet.
  'cnpg_collector_last_available_backup_timestamp{namespace="data",pod="vision-db-2"}': '0x3000',
});

const certificateUntil = (seconds: number, labels = 'namespace="vision"'): Series => ({
  [`certmanager_certificate_expiration_timestamp_seconds{${labels},name="vision-tls"}`]: `${seconds}x300`,
  // One that is not made yet.
  [`certmanager_certificate_expiration_timestamp_seconds{${labels},name="new"}`]: '0x300',
});

/** Partitions that lack something, as the leader counts them; the other broker leads others. */
const partitionsLacking = (what: string, values: string): Series => ({
  [`kafka_server_replicamanager_${what}{namespace="data",pod="vision-brokers-0"}`]: values,
  [`kafka_server_replicamanager_${what}{namespace="data",pod="vision-brokers-1"}`]: '0x30',
});
const UNDER_REPLICATED = 'underreplicatedpartitions';
const UNDER_MIN_ISR = 'underminisrpartitioncount';

/** Without `honorLabels` Prometheus renames the labels that its own would hide. */
const exported = (namespace: string) => `namespace="cert-manager",exported_namespace="${namespace}"`;

const own: Record<string, object> = {
  VisionBackupOld: {},
  VisionKafkaTakesNothing: {},
  VisionKafkaUnderReplicated: {},
  VisionCertificateEnds: { namespace: 'vision', name: 'vision-tls' },
};

const cases = [
  ['VisionStoreDiskFills', 20, volume('data-0', '81x3000'), ['data-0 is 81% full']],
  ['VisionStoreDiskFills', 20, volume('data-0', '79x3000'), []],
  ['VisionStoreDiskFull', 10, volume('data-0', '95x3000'), ['data-0 is 95% full']],
  ['VisionStoreDiskFull', 10, volume('data-0', '90x3000'), []],
  [
    'VisionKafkaUnderReplicated',
    20,
    partitionsLacking(UNDER_REPLICATED, '32x30'),
    ['32 partitions of Kafka lack a copy; one more broker that fails may stop them'],
  ],
  ['VisionKafkaUnderReplicated', 20, partitionsLacking(UNDER_REPLICATED, '32x9 0x20'), []],
  ['VisionKafkaUnderReplicated', 20, {}, []],
  [
    'VisionKafkaTakesNothing',
    10,
    partitionsLacking(UNDER_MIN_ISR, '32x30'),
    ['Partitions of Kafka take no records, because too few brokers have their copies'],
  ],
  ['VisionKafkaTakesNothing', 10, partitionsLacking(UNDER_MIN_ISR, '0x30'), []],
  ['VisionBackupOld', 2400, backupAt('60x3000'), ['The last backup of the databases is 1d 15h 59m 0s old']],
  ['VisionBackupOld', 2400, backupAt('100000x3000'), []],
  [
    'VisionCertificateEnds',
    90,
    certificateUntil(91_800),
    ['The certificate vision-tls ends in 1d 0h 0m 0s and was not renewed'],
  ],
  ['VisionCertificateEnds', 90, certificateUntil(20 * 86_400), []],
  [
    'VisionCertificateEnds',
    90,
    certificateUntil(91_800, exported('vision')),
    ['The certificate vision-tls ends in 1d 0h 0m 0s and was not renewed'],
  ],
  ['VisionCertificateEnds', 90, certificateUntil(20 * 86_400, exported('vision')), []],
  ['VisionCertificateEnds', 90, certificateUntil(91_800, exported('other')), []],
] as const;

test('promtool takes the rules for the stores', () => {
  expect(promtoolOn('check', spec)).toBe('');
});

test.each(rules)('$alert leads to a heading that says what to do', ({ annotations: { runbook } }) => {
  const [file = '', anchor = ''] = runbook.split('#');
  const headings = readFileSync(join(root, file), 'utf8').match(/^#+ .+$/gm) ?? [];
  const anchors = headings.map((line) =>
    line
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, ''),
  );
  expect(anchors.map((words) => words.replaceAll(' ', '-'))).toContain(anchor);
});

test('the brokers of the example measure what the alerts ask of them', () => {
  const [, names = ''] = /name=\(([^)]+)\)/.exec(readFileSync(join(examples, 'kafka.yaml'), 'utf8')) ?? [];
  expect(names.toLowerCase().split('|').sort()).toEqual([UNDER_MIN_ISR, UNDER_REPLICATED].sort());
});

describe.each(cases)('%s at minute %d', (alertname, minute, series, summaries) => {
  test(summaries.length > 0 ? 'fires' : 'stays silent', () => {
    const labels = own[alertname] ?? { persistentvolumeclaim: 'data-0' };
    const expected = summaries.map((summary) => ({
      exp_labels: { namespace: 'data', ...rules.find(({ alert }) => alert === alertname)?.labels, ...labels },
      exp_annotations: { summary, runbook: rules.find(({ alert }) => alert === alertname)?.annotations.runbook },
    }));
    const content = {
      rule_files: ['stores.json'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [{ eval_time: `${minute}m`, alertname, exp_alerts: expected }],
        },
      ],
    };
    expect(promtoolOn('test', content, { 'stores.json': spec })).toBe('');
  });
});
