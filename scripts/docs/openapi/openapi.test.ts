import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { fail } from '../../../packages/contracts/src/errors.ts';
import { buildOpenApi } from './openapi.ts';
import type { RouteDefinition } from '../../../packages/shared/src/http/route.ts';

const thing = z.object({ name: z.string() }).meta({ id: 'Thing' });
const getThing: RouteDefinition = {
  operation: 'getThing',
  method: 'get',
  path: '/things/{id}',
  summary: 'A thing',
  tag: 'Things',
  audience: 'public',
  params: z.object({ id: z.string() }),
  responses: { 200: { description: 'The thing', schema: thing, example: { name: 'ball' } } },
  refusalExamples: () => [fail.sceneUnavailable('helmet'), fail.maintenance()],
};

interface Built {
  paths: Record<string, { get: { responses: Record<string, { content: Record<string, unknown>; headers: object }> } }>;
  components: { schemas: Record<string, unknown>; examples: Record<string, { value: unknown }> };
}

const build = (change: Partial<RouteDefinition> = {}): Built =>
  buildOpenApi({
    title: 'Things',
    version: '1',
    description: 'Things',
    servers: [],
    bearer: 'A key',
    tags: [{ name: 'Things', description: 'Things.' }],
    audience: 'public',
    definitions: [{ ...getThing, ...change }],
  }) as Built;

test('a schema with an id is a component that answers refer to', () => {
  const { paths, components } = build();
  expect(components.schemas).toHaveProperty('Thing');
  expect(paths['/things/{id}']?.get.responses['200']?.content).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/Thing' }, example: { name: 'ball' } },
  });
});

test('refusals are shown under their status as the service sends them, those of every route included', () => {
  const { paths, components } = build();
  const responses = paths['/things/{id}']?.get.responses ?? {};
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '404', '429', '500', '503']);
  expect(components.examples['maintenance']?.value).toMatchObject({ status: 503, code: 'OP-TASK-BREAKER-OPEN' });
  expect(components.examples['scene_unavailable']?.value).toMatchObject({ details: { scene_code: 'helmet' } });
  expect(Object.keys(responses['503']?.headers ?? {})).toContain('Retry-After');
  expect(Object.keys(responses['401']?.headers ?? {})).toContain('WWW-Authenticate');
  for (const { headers } of Object.values(responses)) expect(Object.keys(headers)).toContain('X-Trace-Id');
});

test('an example that does not fit, a detail that is not documented and a tag without a sentence are refused', () => {
  const unfit = { 200: { description: 'The thing', schema: thing, example: { name: 5 } } };
  expect(() => build({ responses: unfit })).toThrow('getThing: its example does not fit');
  const loose = () => [fail.conflict('key_ended', 'It is taken.', { shelf: 3 })];
  expect(() => build({ refusalExamples: loose })).toThrow('shelf');
  expect(() => build({ tag: 'Stuff' })).toThrow('the tag Stuff is not described');
});
