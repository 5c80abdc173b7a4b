import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { root } from '../local/settings.ts';
import { promtoolOn } from './promtool.ts';
import type { Series } from './series.ts';

/** The rules beside the operators' examples. */
const { spec } = parse(readFileSync(join(root, 'charts/vision/examples/operators/alerts.yaml'), 'utf8')) as {
  spec: { groups: { rules: { alert: string; labels: Record<string, string> }[] }[] };
};
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

/** Without `honorLabels` Prometheus renames the labels that its own would hide. */
const exported = (namespace: string) => `namespace="cert-manager",exported_namespace="${namespace}"`;

const own: Record<string, object> = {
  VisionBackupOld: {},
  VisionCertificateEnds: { namespace: 'vision', name: 'vision-tls' },
};

const cases = [
  ['VisionStoreDiskFills', 20, volume('data-0', '81x3000'), ['data-0 is 81% full']],
  ['VisionStoreDiskFills', 20, volume('data-0', '79x3000'), []],
  ['VisionStoreDiskFull', 10, volume('data-0', '95x3000'), ['data-0 is 95% full']],
  ['VisionStoreDiskFull', 10, volume('data-0', '90x3000'), []],
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

describe.each(cases)('%s at minute %d', (alertname, minute, series, summaries) => {
  test(summaries.length > 0 ? 'fires' : 'stays silent', () => {
    const labels = own[alertname] ?? { persistentvolumeclaim: 'data-0' };
    const expected = summaries.map((summary) => ({
      exp_labels: { namespace: 'data', ...rules.find(({ alert }) => alert === alertname)?.labels, ...labels },
      exp_annotations: { summary },
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
