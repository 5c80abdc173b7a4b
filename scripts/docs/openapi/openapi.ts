import { OpenApiGeneratorV31, OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import type { z } from 'zod';
import { documentedProblem } from '../../../packages/contracts/src/problem.ts';
import { createComponents } from './openapi-components.ts';
import type { Components } from './openapi-components.ts';
import { successResponses } from './openapi-responses.ts';
import { addressResponses, refusalResponses } from './openapi-refusals.ts';
import type { Audience, RouteDefinition } from '../../../packages/shared/src/http/route.ts';

export interface OpenApiOptions {
  title: string;
  version: string;
  description: string;
  servers: { url: string; description: string; variables?: Record<string, { default: string; description: string }> }[];
  /** What the bearer token is and where it comes from. */
  bearer: string;
  /** Every tag of its operations, in the order in which readers should meet them. */
  tags: { name: string; description: string }[];
  /** Only routes for this audience are described. */
  audience: Audience;
  definitions: RouteDefinition[];
  /** Requests that the service sends to callers. */
  webhooks?: WebhookDoc[] | undefined;
}

/** One kind of request that the service sends to addresses of callers. */
export interface WebhookDoc {
  name: string;
  summary: string;
  description: string;
  schema: z.ZodType;
  example: unknown;
}

/**
 * The OpenAPI 3.1 document of one audience. Answers that every route of it can give (no key, limits, faults in the
 * request) are added here, so that a route declares only what is its own. Examples are parsed by their schemas.
 */
export function buildOpenApi(options: OpenApiOptions): object {
  const { title, version, description, servers, bearer, tags, audience } = options;
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', description: bearer });
  const components = createComponents(registry);
  for (const [name, response] of Object.entries(addressResponses(audience, components))) {
    registry.registerComponent('responses', name, response);
  }
  const definitions = options.definitions.filter((definition) => definition.audience === audience).sort(byPath);
  checkTags(tags, definitions);
  for (const definition of definitions) registry.registerPath(toPath(definition, components));
  for (const webhook of options.webhooks ?? []) registry.registerWebhook(toWebhook(webhook, components));
  const generator = new OpenApiGeneratorV31([{ type: 'schema', schema: documentedProblem }, ...registry.definitions]);
  const { webhooks, ...document } = generator.generateDocument({
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers,
    tags,
    security: [{ bearer: [] }],
  });
  return options.webhooks ? { ...document, webhooks } : document;
}

const byPath = (a: RouteDefinition, b: RouteDefinition) =>
  a.path === b.path ? a.method.localeCompare(b.method) : a.path.localeCompare(b.path);

function toPath(definition: RouteDefinition, components: Components): RouteConfig {
  const { method, path, operation, summary, description, tag, params, headers } = definition;
  const query = definition.queryDoc ?? definition.query;
  for (const part of [params, query, headers]) if (part) components.name(part);
  const body = requestBody(definition, components);
  return {
    method,
    path,
    operationId: operation,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(definition.authenticated === false ? { security: [] } : {}),
    request: {
      ...(params ? { params: params as z.ZodObject } : {}),
      ...(query ? { query: query as z.ZodObject } : {}),
      ...(headers ? { headers } : {}),
      ...(body ? { body } : {}),
    },
    responses: { ...successResponses(definition, components), ...refusalResponses(definition, components) },
  };
}

/** A receiver answers with a status; what else it sends is not read. */
function toWebhook({ name, summary, description, schema, example }: WebhookDoc, components: Components): RouteConfig {
  components.name(schema);
  const content = { 'application/json': { schema, example: components.checked(example, schema, name) } };
  const header = (text: string) => ({
    name: text,
    in: 'header' as const,
    required: true,
    schema: { type: 'string' as const },
  });
  return {
    method: 'post',
    path: name,
    operationId: name,
    summary,
    description,
    tags: ['Webhooks'],
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header),
    request: { body: { required: true, content } },
    responses: { '2XX': { description: 'Any 2xx status: the event is delivered' } },
  };
}

type RequestBody = NonNullable<NonNullable<RouteConfig['request']>['body']>;

function requestBody({ body, bodyExample, bodyDoc, operation }: RouteDefinition, components: Components) {
  const doc = bodyDoc ?? (body && { contentType: 'application/json', schema: body, example: bodyExample });
  if (!doc) return undefined;
  const { contentType, schema, example } = doc;
  const encoding = 'encoding' in doc ? doc.encoding : undefined;
  components.name(schema);
  const content = {
    schema,
    ...(example === undefined ? {} : { example: components.checked(example, schema, operation) }),
    ...(encoding === undefined ? {} : { encoding }),
  };
  return { required: true, content: { [contentType]: content } } satisfies RequestBody;
}

/** A tag without a description or without operations is a fault in the document. */
function checkTags(tags: OpenApiOptions['tags'], definitions: RouteDefinition[]): void {
  const used = new Set(definitions.map(({ tag }) => tag));
  for (const { operation, tag } of definitions) {
    if (!tags.some(({ name }) => name === tag)) throw new Error(`${operation}: the tag ${tag} is not described`);
  }
  for (const { name } of tags) if (!used.has(name)) throw new Error(`no operation bears the tag ${name}`);
}
