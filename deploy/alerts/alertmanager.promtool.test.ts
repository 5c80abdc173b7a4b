import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { until } from '@vision/shared/testing/until';
import { alertRules } from './alert-rules.ts';
import { exampleFile, receiversOf, startAlertmanager } from './alertmanager.ts';
import type { Alertmanager, Labels } from './alertmanager.ts';

const rules = alertRules();

let alertmanager: Alertmanager;
beforeAll(async () => {
  alertmanager = await startAlertmanager();
});
afterAll(() => alertmanager.stop());

/** What fires when PostgreSQL is gone: most within ten minutes, VisionLoopFails after 15 at the earliest. */
const POSTGRES_DOWN: [alert: string, labels: Labels][] = [
  ['VisionAnswersFailFast', { class: 'read' }],
  ['VisionKeyStoreAway', {}],
  ['VisionUpstreamFails', { service: 'tasks', upstream: 'postgres' }],
  ['VisionServiceUnavailable', { upstream: 'tasks' }],
  ['VisionPoolExhausted', { service: 'tasks' }],
  ['VisionOutboxUnseen', { service: 'tasks' }],
  ['VisionLoopFails', { service: 'results', loop: 'compaction' }],
];

const SECURITY = ['VisionForbiddenCall', 'VisionNoWall', 'VisionKeysGuessed'];

test('PostgreSQL is gone: seven alerts come, one notice goes out, and one when it is back', async () => {
  const alerts = POSTGRES_DOWN.map(([alert, labels]) => ({ labels: labelsOf(alert, labels) }));
  await alertmanager.post(alerts);
  await until(() => alertmanager.notices.length > 0);
  const known = await alertmanager.known();
  expect(known).toHaveLength(7);
  expect(known.filter(({ status }) => status.state === 'active').map(({ labels }) => labels['alertname'])).toEqual([
    'VisionAnswersFailFast',
  ]);

  await alertmanager.post(alerts.map((alert) => ({ ...alert, endsAt: new Date().toISOString() })));
  await until(() => alertmanager.notices.some(({ status }) => status === 'resolved'));
  expect(alertmanager.notices.map(({ receiver, status }) => ({ receiver, status }))).toEqual([
    { receiver: 'page', status: 'firing' },
    { receiver: 'page', status: 'resolved' },
  ]);
  expect(alertmanager.notices[0]?.alerts.map(({ labels }) => labels['alertname'])).toEqual(['VisionAnswersFailFast']);
});

test.each(rules)('$alert reaches those whom its severity names', ({ alert, labels: { severity } }) => {
  const expected = { critical: 'page', warning: 'today', none: 'heartbeat' }[severity];
  expect(receiversOf(labelsOf(alert, {}))).toBe(SECURITY.includes(alert) ? 'security' : expected);
});

test('the example names only alerts that there are', () => {
  const named = readFileSync(exampleFile, 'utf8').match(/\bVision[A-Z]\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => rules.every(({ alert }) => alert !== name))).toEqual([]);
});

function labelsOf(alert: string, labels: Labels): Labels {
  const severity = rules.find((rule) => rule.alert === alert)?.labels.severity ?? 'unknown';
  return { alertname: alert, namespace: 'vision', severity, ...labels };
}
