import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { ResponseConfig, RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { problem } from '../contracts/problem.ts';
import type { ErrorCode, ErrorKind } from '../errors.ts';
import { statusOfKind } from './problem.ts';
import type { Audience, ResponseDoc, RouteDefinition } from './route.ts';

export interface OpenApiOptions {
  title: string;
  version: string;
  description: string;
  /** Only routes for this audience are described. */
  audience: Audience;
  definitions: RouteDefinition[];
}

/**
 * The OpenAPI 3.1 document of one audience. Answers that every route of it can give (no key, limits, faults in the request)
 * are added here, so that a route declares only what is its own.
 */
export function buildOpenApi({ title, version, description, audience, definitions }: OpenApiOptions): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  const { $schema: _dialect, ...problemSchema } = z.toJSONSchema(problem);
  registry.registerComponent('schemas', 'Problem', problemSchema as object);
  const mine = definitions.filter((definition) => definition.audience === audience).sort(byPath);
  for (const definition of mine) registry.registerPath(toPath(definition));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security: [{ bearer: [] }],
  });
}

const kindOfCode: Record<ErrorCode, ErrorKind> = {
  'OP-AUTH-REQUIRED': 'unauthenticated',
  'OP-TASK-REQUEST-INVALID': 'invalid',
  'OP-TASK-SCENE-UNAVAILABLE': 'invalid',
  'OP-TASK-NOT-STOPPABLE': 'conflict',
  'OP-TASK-UPSTREAM-DOWN': 'unavailable',
  'OP-TASK-BREAKER-OPEN': 'unavailable',
  'OP-QUOTA-DAILY-EXHAUSTED': 'exhausted',
  'OP-QUOTA-RATE-LIMITED': 'exhausted',
  'OP-SYS-UNAVAILABLE': 'unavailable',
};

const PROBLEM = { $ref: '#/components/schemas/Problem' };

const byPath = (a: RouteDefinition, b: RouteDefinition) =>
  a.path === b.path ? a.method.localeCompare(b.method) : a.path.localeCompare(b.path);

function toPath(definition: RouteDefinition): RouteConfig {
  const { method, path, operation, summary, description, body, bodyDoc } = definition;
  const query = definition.queryDoc ?? definition.query;
  const content = body
    ? { 'application/json': { schema: body } }
    : bodyDoc && { [bodyDoc.contentType]: { schema: bodyDoc.schema } };
  return {
    method,
    path,
    operationId: operation,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(definition.authenticated === false ? { security: [] } : {}),
    request: {
      ...(definition.params ? { params: definition.params as z.ZodObject } : {}),
      ...(query ? { query: query as z.ZodObject } : {}),
      ...(definition.headers ? { headers: definition.headers } : {}),
      ...(content ? { body: { required: true, content } } : {}),
    },
    responses: { ...ownResponses(definition), ...errorResponses(definition) },
  };
}

function ownResponses({ responses, audience, authenticated }: RouteDefinition): Record<string, ResponseConfig> {
  const common = audience === 'public' && authenticated !== false ? rateHeaders : {};
  const entries = Object.entries(responses).map(([status, doc]: [string, ResponseDoc]) => {
    const headers = { ...common, ...describeHeaders(doc.headers ?? {}) };
    return [
      status,
      {
        description: doc.description,
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
        ...(doc.schema ? { content: { 'application/json': { schema: doc.schema } } } : {}),
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

function errorResponses(definition: RouteDefinition): Record<string, ResponseConfig> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(definition)) {
    const status = statusOfKind[kindOfCode[code]];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  if (definition.path.includes('{')) byStatus.set(404, []);
  const entries = [...byStatus].map(([status, codes]) => {
    const names = codes.length > 0 ? codes.join(', ') : 'There is no such resource; the body has no code';
    const waits = status === 429 || status === 503 ? describeHeaders({ 'Retry-After': 'Seconds' }) : {};
    return [
      String(status),
      {
        description: names,
        ...(Object.keys(waits).length > 0 ? { headers: waits } : {}),
        content: { 'application/problem+json': { schema: PROBLEM, ...examplesOf(status, codes) } },
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

function codesOf(definition: RouteDefinition): Set<ErrorCode> {
  const codes = new Set(definition.errors ?? []);
  const { audience, authenticated, body, bodyDoc, query, queryDoc, headers } = definition;
  if (authenticated !== false && audience !== 'backend') codes.add('OP-AUTH-REQUIRED');
  if (body ?? bodyDoc ?? query ?? queryDoc ?? headers) codes.add('OP-TASK-REQUEST-INVALID');
  if (audience === 'public' && authenticated !== false) codes.add('OP-QUOTA-RATE-LIMITED').add('OP-SYS-UNAVAILABLE');
  return codes;
}

function examplesOf(status: number, codes: ErrorCode[]) {
  if (codes.length === 0) return {};
  const example = (code: ErrorCode) => ({
    value: {
      type: 'urn:vision:problem:reason',
      title: 'Title of the kind of problem',
      status,
      detail: 'A sentence a person can act on.',
      instance: 'urn:request:5f0c2d1e-6a0b-4a57-9d2c-0d4a3c6f2b11',
      code,
      details: { reason: 'reason' },
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      retryable: status === 429 || status === 503,
    },
  });
  return { examples: Object.fromEntries(codes.map((code) => [code, example(code)])) };
}

function describeHeaders(headers: Record<string, string>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' as const } }]),
  );
}

const rateHeaders = describeHeaders({
  'RateLimit-Policy': 'Limits of this caller (draft-ietf-httpapi-ratelimit-headers)',
  RateLimit: 'What is left of them',
  'X-Request-Id': 'Id of this request',
});
