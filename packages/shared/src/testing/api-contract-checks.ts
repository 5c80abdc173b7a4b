import type { AnySchema } from 'ajv/dist/2020.js';
import { resolved } from './api-contract-document.ts';
import type { Api, ApiHeader, ApiOperation, ApiResponse, Exchange } from './api-contract-document.ts';

/** Headers that tell a client something about this API; others belong to HTTP itself. */
const OURS = /^(x-(?!content-type-options$)|ratelimit|retry-after$|idempotency-|www-authenticate$|allow$)/;

export function headerFaults(api: Api, response: ApiResponse, headers: Headers): string[] {
  const documented = new Map(
    Object.entries(response.headers ?? {}).map(([name, header]) => [
      name.toLowerCase(),
      resolved(api.document, header),
    ]),
  );
  const strange = [...headers.keys()].filter((name) => OURS.test(name) && !documented.has(name));
  return [
    ...strange.map((name) => `the header ${name} is not documented`),
    ...[...documented].flatMap(([name, header]) => headerFault(api, header, { name, value: headers.get(name) })),
  ];
}

function headerFault(api: Api, header: ApiHeader, { name, value }: { name: string; value: string | null }): string[] {
  if (value === null) return header.required ? [`the header ${name} is missing`] : [];
  return api.faultsOf(header.schema, fromText(header.schema, value), `the header ${name}`);
}

export function bodyFaults(api: Api, { content }: ApiResponse, { headers, text }: Exchange): string[] {
  if (!content) return text === '' ? [] : ['has a body, and none is documented'];
  const type = mediaType(headers.get('content-type'));
  const documented = content[type];
  if (!documented) return [`the content type "${type}" is not documented`];
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) return [];
  const body = parsed(text);
  return body === undefined ? ['the body is not JSON'] : api.faultsOf(documented.schema, body, 'the body');
}

/** What the service accepted although the document says otherwise. */
export function requestFaults(api: Api, operation: ApiOperation, exchange: Exchange): string[] {
  const query = new URLSearchParams(exchange.path.split('?')[1] ?? '');
  const sent = new Headers(exchange.requestHeaders);
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'path');
  const faults = parameters.flatMap(({ name, in: place, required = false, schema }) => {
    const value = place === 'query' ? query.get(name) : sent.get(name);
    if (value === null) return required ? [`was accepted without ${name}`] : [];
    return api.faultsOf(schema, fromText(schema, value), `was accepted although ${name}`);
  });
  const json = operation.requestBody?.content['application/json'];
  if (!json || exchange.requestText === undefined) return faults;
  return [...faults, ...api.faultsOf(json.schema, parsed(exchange.requestText), 'was accepted although the body')];
}

const mediaType = (header: string | null) => (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function fromText(schema: AnySchema, text: string): unknown {
  const type = typeof schema === 'object' ? (schema['type'] as unknown) : undefined;
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
