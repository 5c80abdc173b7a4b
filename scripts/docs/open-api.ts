import { buildOpenApi } from '@vision/shared/http/openapi';
import type { Audience, Route, RouteDefinition } from '@vision/shared/http/route';
import { importFrom, serviceNames } from './services.ts';

const documents: Record<Audience, { title: string; description: string }> = {
  public: {
    title: 'Vision Recognition Service',
    description: 'Object recognition in video and pictures. Every call carries `Authorization: Bearer <API_KEY>`.',
  },
  admin: {
    title: 'Vision Recognition Service: admin API',
    description: 'For operators, on a port of its own; `Authorization: Bearer <ADMIN_TOKEN>`.',
  },
  internal: {
    title: 'Vision Recognition Service: calls between services',
    description: 'Called with the short-lived token that the calling service mints for each hop.',
  },
  backend: {
    title: 'Inference backend',
    description: 'What the shipped inference backend answers; another one may stand in its place.',
  },
};

/** The OpenAPI documents, by path, from the route definitions of all services. */
export async function openApiDocuments(root: string): Promise<Record<string, string>> {
  const definitions: RouteDefinition[] = [];
  for (const service of serviceNames) definitions.push(...(await definitionsOf(root, service)));
  await checkForwarded(root, definitions);
  const entries = (Object.keys(documents) as Audience[]).map((audience) => {
    const document = buildOpenApi({ ...documents[audience], version: '1', audience, definitions });
    return [`docs/openapi/${audience}.json`, JSON.stringify(document)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

async function definitionsOf(root: string, service: string): Promise<RouteDefinition[]> {
  const module = (await importFrom(root, service, 'http/routes.ts')) as
    { routes: (...parts: unknown[]) => Route[] } | undefined;
  return (module?.routes(stand(), stand()) ?? []).map(({ definition }) => definition);
}

/** A route that the gateway passes on and its owner does not declare, or the other way round, is a fault of one of them. */
async function checkForwarded(root: string, definitions: RouteDefinition[]): Promise<void> {
  const gateway = (await importFrom(root, 'gateway', 'http/forwarded-routes.ts')) as {
    forwarded: Named[];
  };
  const own = (await definitionsOf(root, 'gateway')).map(nameOf);
  const forwarded = new Set([...gateway.forwarded.map(nameOf), ...own]);
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

/** Stands for whatever a route is made from: declaring a route calls nothing, so anything it touches is itself again. */
function stand(): never {
  const anything: unknown = new Proxy(() => anything, {
    get: (_target, name) => (name === Symbol.toPrimitive ? () => 0 : anything),
  });
  return anything as never;
}
