import { expect, test } from '@jest/globals';
import { createVisionClient } from '@vision/client';
import type { AlarmRule } from '@vision/client';
import { ruleNow, switchRule } from '../alarms/switch-rule.ts';
import { switchEndpoint } from '../webhooks/switch-endpoint.ts';

/** A service that holds one thing, or none; `sent` are the bodies that were put. */
function serviceWith(held: object | undefined, status = 404) {
  const sent: unknown[] = [];
  const fetch = async (request: Request) => {
    if (request.method === 'PUT') sent.push(await request.json());
    if (held) return Response.json(held);
    const details = { reason: 'made_up' };
    return Response.json({ title: '', detail: '', status, trace_id: '', retryable: false, details }, { status });
  };
  return { client: createVisionClient({ baseUrl: 'http://localhost', apiKey: '', maxRetryMs: 0, fetch }), sent };
}

const rule: AlarmRule = {
  rule_id: 'yard',
  version: 7,
  name: 'Renamed by somebody else',
  enabled: true,
  scope: { client_refs: ['gate'] },
  when: { kind: 'source_down', for_ms: 90_000 },
  schedule: { time_zone: 'UTC', windows: [{ days: ['sat'], from: '08:00', to: '09:00' }] },
  min_interval_ms: 5000,
  created_at: '',
  updated_at: '',
};

test('muting a rule changes nothing else of it as it is now', async () => {
  const { client, sent } = serviceWith(rule);
  expect(await switchRule(client, 'yard', false)).toBe(true);
  const { name, scope, when, schedule, min_interval_ms } = rule;
  expect(sent).toEqual([{ name, enabled: false, scope, when, schedule, min_interval_ms }]);
});

test('switching an endpoint changes nothing else of it as it is now', async () => {
  const endpoint = { endpoint_id: 'desk', url: 'https://new.example.org/', event_types: ['alarm.opened'] };
  const { client, sent } = serviceWith({ ...endpoint, enabled: true, created_at: '' });
  expect(await switchEndpoint(client, 'desk', false)).toBe(true);
  expect(sent).toEqual([{ url: endpoint.url, event_types: endpoint.event_types, enabled: false }]);
});

test('what was deleted does not come back', async () => {
  const { client, sent } = serviceWith(undefined);
  expect(await ruleNow(client, 'yard')).toBeUndefined();
  expect(await switchRule(client, 'yard', true)).toBe(false);
  expect(await switchEndpoint(client, 'desk', true)).toBe(false);
  expect(sent).toEqual([]);
});

test('what cannot be read now is not taken for deleted, and is not written', async () => {
  const { client, sent } = serviceWith(undefined, 503);
  await expect(switchRule(client, 'yard', true)).rejects.toThrow();
  await expect(switchEndpoint(client, 'desk', true)).rejects.toThrow();
  expect(sent).toEqual([]);
});
