import { expect, test } from '@jest/globals';
import { againstDefinitions, isOfKubernetes } from './custom-kinds.ts';
import type { Schema } from './custom-kinds.ts';
import type { Manifest } from './manifests.ts';

const definition: Schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['replicas'],
      oneOf: [{ required: ['host'], properties: { host: { minLength: 3 } } }, { required: ['free'] }],
      properties: {
        replicas: { type: 'integer', minimum: 1 },
        host: { type: 'string', pattern: String.raw`^[a-z\-]+$` },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        free: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-preserve-unknown-fields': true },
        note: { type: 'string', nullable: true },
      },
    },
  },
};
const definitions = new Map([['example.com/v1/Thing', definition]]);
const thing = (spec: Record<string, unknown>, apiVersion = 'example.com/v1'): Manifest => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});
const faultsOf = (spec: Record<string, unknown>) => againstDefinitions([thing(spec)], definitions);

test('what fits a definition has nothing against it', () => {
  const spec = { replicas: 2, host: 'a-b', port: 'http', labels: { x: 'y' }, note: null };
  expect(faultsOf(spec)).toEqual([]);
  expect(faultsOf({ replicas: 2, port: 80, free: { a: 'b', c: 1 } })).toEqual([]);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['an unknown field', { replicas: 1, host: 'abc', prot: 80 }, /Thing\/a: \/spec .*"prot"/],
  ['a missing one', { host: 'abc' }, /"replicas"/],
  ['a wrong type', { replicas: '1', host: 'abc' }, /\/spec\/replicas must be integer/],
  ['a value that a rule refuses', { replicas: 1, host: 'a' }, /\/spec\/host must NOT have fewer than 3/],
  ['a list that stayed empty', { replicas: 1, host: 'abc', labels: null }, /\/spec\/labels must be object/],
])('%s is named', (_what, spec, fault) => {
  expect(faultsOf(spec).join('\n')).toMatch(fault);
});

test('a kind without a definition is named', () => {
  const [fault] = againstDefinitions([thing({}, 'example.com/v2')], definitions);
  expect(fault).toBe('Thing/a: there is no definition of example.com/v2/Thing');
});

test.each([
  ['v1', true],
  ['apps/v1', true],
  ['networking.k8s.io/v1', true],
  ['gateway.networking.k8s.io/v1', false],
  ['keda.sh/v1alpha1', false],
  ['monitoring.coreos.com/v1', false],
])('%s is a kind of Kubernetes itself: %s', (apiVersion, expected) => {
  expect(isOfKubernetes(thing({}, apiVersion))).toBe(expected);
});
