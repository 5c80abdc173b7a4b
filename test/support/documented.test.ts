import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exchange } from '@vision/shared/testing/api-contract-document';
import { defaultLimits } from '@vision/contracts/limits';
import { documentedBy } from './documented.ts';

const older = mkdtempSync(join(tmpdir(), 'vision-documents-'));
afterAll(() => rmSync(older, { recursive: true }));

/** As of a release before `alarm_rules` was a limit. */
beforeAll(() => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/openapi/admin.json'), 'utf8');
  const cut = (_key: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((name: unknown) => name !== 'alarm_rules');
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'alarm_rules'));
  };
  writeFileSync(join(older, 'admin.json'), JSON.stringify(JSON.parse(text, cut)));
});

const without = (body: object, name: string) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
const old = without(defaultLimits, 'alarm_rules');
const less = without(old, 'burst');
const limits = (body: object): Exchange => ({
  method: 'GET',
  path: '/admin/v1/subjects/s/limits',
  status: 200,
  headers: new Headers({ 'content-type': 'application/json', 'x-request-id': 'r', 'x-trace-id': '0'.repeat(32) }),
  text: JSON.stringify(body),
});

test('an answer may lack what an older release did not promise, and nothing else', async () => {
  const today = await documentedBy('admin', '');
  const both = await documentedBy('admin', older);
  const faults = [defaultLimits, old, less].map((body) => [today, both].map((check) => check(limits(body)).length));
  expect(faults).toEqual([
    [0, 0],
    [1, 0],
    [2, 1],
  ]);
});
