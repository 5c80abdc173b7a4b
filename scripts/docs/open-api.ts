import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationScopes, publicOperations, scopeOf } from '@vision/contracts/public-operations';
import { buildOpenApi } from './openapi/openapi.ts';
import type { OpenApiOptions, WebhookDoc } from './openapi/openapi.ts';
import type { Audience, Route, RouteDefinition } from '@vision/shared/http/route';
import { faultsOfAllowedCalls } from './allowed-calls.ts';
import { guideParts } from './guide-parts.ts';
import { expandGuide, guideFaults } from './guide.ts';
import { importFrom, serviceNames } from './services.ts';
import { summaryFaults } from './summaries.ts';

type Presentation = Pick<OpenApiOptions, 'title' | 'description' | 'servers' | 'bearer' | 'tags'>;

const local = (port: number, description: string) => ({
  url: '{base_url}',
  description,
  variables: { base_url: { default: `http://localhost:${port}`, description: 'Address of the service' } },
});

const publicGuide = readFileSync(join(import.meta.dirname, 'public-guide.md'), 'utf8');

const documents: Record<Audience, Presentation> = {
  public: {
    title: 'Vision Recognition Service',
    description: publicGuide,
    servers: [{ url: '/', description: 'Server of this document' }, local(8080, 'Another address')],
    bearer:
      'An API key: `Authorization: Bearer vk_…`. The operator creates, rotates and revokes keys. Keys of one subject ' +
      'share tasks, quota and limits. A key can be limited to scopes: `read`, `create`, `notify`; an operation beyond ' +
      'them answers 403 (`scope_missing`). A key in a query string is never read.',
    tags: [
      { name: 'Scenes', description: 'Sets of objects that the service detects, with labels and thresholds.' },
      { name: 'Video tasks', description: 'Create, monitor and stop video analysis tasks.' },
      { name: 'Tracks', description: 'Read the objects of a video task, each from its first to its last frame.' },
      { name: 'Results', description: 'Read result frames of a video task.' },
      { name: 'Alarms', description: 'Store alarm rules, try them on stored frames, read and review alarms.' },
      { name: 'Events', description: 'Read what happened to your tasks, as pages or as a stream.' },
      { name: 'Webhooks', description: 'Have events sent to your own server, signed.' },
      { name: 'MQTT', description: 'Have events published to your own MQTT broker.' },
      { name: 'Links', description: 'Share one path with clients that cannot send an API key.' },
      { name: 'Images', description: 'Detect objects in 1 to 10 images per call.' },
      { name: 'Account', description: 'Quota usage.' },
      { name: 'Documentation', description: 'This document.' },
    ],
  },
  admin: {
    title: 'Vision Recognition Service: admin API',
    description:
      'For operators, on a port of its own that no ingress exposes. `visionctl` wraps every call. The ' +
      'header `X-Operator` names the operator and is kept in the audit log.',
    servers: [local(8081, 'The admin port of the gateway')],
    bearer: 'The static token of the gateway: `Authorization: Bearer <ADMIN_TOKEN>`.',
    tags: [
      { name: 'Keys', description: 'Create, list, rotate and revoke API keys.' },
      { name: 'Subjects', description: 'Limits and quota usage of a subject.' },
      { name: 'Tasks', description: 'Tasks of all subjects: list, show, stop, verify; their jobs at the backend.' },
      { name: 'Upkeep', description: 'Maintenance, retention, audits and repairs of the ledger, the audit log.' },
      { name: 'Dead letters', description: 'Records that no consumer could process: inspect and replay them.' },
    ],
  },
  internal: {
    title: 'Vision Recognition Service: calls between services',
    description: 'Questions that services ask each other. Receivers ignore fields that they do not know.',
    servers: [local(8080, 'The address of the service that owns the operation')],
    bearer:
      'A token that the calling service signs with its own key; it names caller, audience and subject, and lives for ' +
      'minutes. Which service may call what is in packages/contracts/src/allowed-calls.ts.',
    tags: [
      { name: 'tasks', description: 'Owners, states and verification of video tasks.' },
      { name: 'images', description: 'Image calls.' },
      { name: 'results', description: 'Stored frames.' },
      { name: 'quota', description: 'The ledger of the daily quotas.' },
      { name: 'notify', description: 'Logs of events and the outbox of alarm rules.' },
    ],
  },
  backend: {
    title: 'Inference backend',
    description: 'API of the shipped inference backend; another one can replace it.',
    servers: [local(8090, 'The inference backend')],
    bearer:
      'The token of one of our services, or a static one: `Authorization: Bearer <INFERENCE_TOKEN>`. Services send the ' +
      'static one when it is set for them, so a backend of your own may ask for that and know no other.',
    tags: [{ name: 'inference', description: 'Detect in one image, run video jobs, say what can be served.' }],
  },
};

/** The OpenAPI documents, by path, from the route definitions of all services. */
export async function openApiDocuments(root: string): Promise<Record<string, string>> {
  const declared: { service: string; definition: RouteDefinition }[] = [];
  for (const service of serviceNames)
    for (const definition of await definitionsOf(root, service)) declared.push({ service, definition });
  const definitions = declared.map(({ definition }) => definition);
  await checkForwarded(root, definitions);
  for (const { audience, operation, authenticated } of definitions) {
    if (audience === 'public' && authenticated !== false && !scopeOf(operation))
      report(`${operation} has no scope in packages/contracts/src/public-operations.ts`);
  }
  const named = new Set(definitions.map(({ operation }) => operation));
  for (const operation of Object.keys(operationScopes))
    if (!named.has(operation))
      report(`packages/contracts/src/public-operations.ts names ${operation}, which no service has`);
  faultsOfAllowedCalls(declared).forEach(report);
  summaryFaults(definitions).forEach(report);
  const { webhookDocs: webhooks } = (await importFrom(root, 'notify', 'http/webhook-docs.ts')) as {
    webhookDocs: WebhookDoc[];
  };
  const entries = (Object.keys(documents) as Audience[]).map((audience) => {
    const own = audience === 'public' ? { webhooks } : {};
    const document = buildOpenApi({ ...documents[audience], version: '1', audience, definitions, ...own });
    const shown = audience === 'public' ? withGuide(root, document as PublicDocument) : document;
    return [`docs/openapi/${audience}.json`, JSON.stringify(shown)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

interface PublicDocument {
  info: { description: string };
}

/** The public document with the guide filled in. Fences and tables that nothing checks are faults. */
function withGuide(root: string, document: PublicDocument): object {
  const parts = guideParts(document);
  guideFaults(root, publicGuide, parts).forEach((fault) => report(`scripts/docs/public-guide.md: ${fault}`));
  return { ...document, info: { ...document.info, description: expandGuide(publicGuide, parts) } };
}

async function definitionsOf(root: string, service: string): Promise<RouteDefinition[]> {
  const module = (await importFrom(root, service, 'http/routes.ts')) as
    { routes: (...parts: unknown[]) => Route[] } | undefined;
  return (module?.routes(stand(), stand()) ?? []).map(({ definition }) => ({
    ...definition,
    tag: definition.tag ?? service,
  }));
}

/**
 * A route that the gateway passes on and its owner does not declare, or the other way round, is a fault of one of them.
 */
async function checkForwarded(root: string, definitions: RouteDefinition[]): Promise<void> {
  const own = (await definitionsOf(root, 'gateway')).map(nameOf);
  const forwarded = new Set([...publicOperations.map(nameOf), ...own]);
  const declared = new Set(definitions.filter(({ audience }) => audience === 'public').map(nameOf));
  for (const name of forwarded) if (!declared.has(name) && !own.includes(name)) report(`no service declares ${name}`);
  for (const name of declared) if (!forwarded.has(name)) report(`the gateway does not pass on ${name}`);
}

interface Named {
  method: string;
  path: string;
  operation: string;
}

const nameOf = ({ method, path, operation }: Named) => `${method.toUpperCase()} ${path} (${operation})`;

function report(fault: string): void {
  console.error(`openapi: ${fault}`);
  process.exitCode = 1;
}

/**
 * Stands for all dependencies of a route: declaring a route calls none, so every property is this object again.
 */
function stand(): never {
  const anything: unknown = new Proxy(() => anything, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => 0 : anything),
  });
  return anything as never;
}
