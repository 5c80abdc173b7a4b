import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { readFile } from 'node:fs/promises';
import { bodyFaults, headerFaults, requestFaults } from './api-contract-checks.ts';
import type { Api, ApiDocument, ApiOperation, ApiResponse, Exchange } from './api-contract-document.ts';
import { closed, resolved } from './api-contract-document.ts';

export interface ApiContract {
  /** What in an exchange is not as the document says; empty when all is. */
  faults: (exchange: Exchange) => string[];
  /** @throws when there is any fault. */
  assert: (exchange: Exchange) => void;
}

/** Statuses that any address may answer with, known or not. */
const ANYWHERE = [400, 401, 429, 500, 503];

export async function readApiContract(file: string): Promise<ApiContract> {
  return createApiContract(JSON.parse(await readFile(file, 'utf8')) as ApiDocument);
}

/**
 * Compares what travels over HTTP with an OpenAPI 3.1 document. Stricter than a client should be: a status, media type,
 * header or property that the document does not name is a fault, and so is a request that was accepted against it.
 */
export function createApiContract(document: ApiDocument): ApiContract {
  const closedDocument = closed(document);
  const validatorOf = createValidators(closedDocument);
  const api: Api = {
    document: closedDocument,
    faultsOf: (schema, value, what) => {
      const validate = validatorOf(schema);
      if (validate(value)) return [];
      return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${describe(error)}`);
    },
  };
  const faults = (exchange: Exchange) => {
    const name = `${exchange.method} ${exchange.path} answered ${exchange.status}`;
    return check(api, exchange).map((fault) => `${name}: ${fault}`);
  };
  return {
    faults,
    assert: (exchange) => {
      const found = faults(exchange);
      if (found.length > 0) throw new Error(`not as the API document says:\n${found.join('\n')}\n${exchange.text}`);
    },
  };
}

function check(api: Api, exchange: Exchange): string[] {
  const operation = findOperation(api.document, exchange);
  const response = operation ? operation.responses[exchange.status] : strayResponse(api.document, exchange.status);
  if (!response) return ['the status is not documented'];
  const answer = resolved<ApiResponse>(api.document, response);
  return [
    ...headerFaults(api, answer, exchange.headers),
    ...(exchange.method === 'HEAD' ? [] : bodyFaults(api, answer, exchange)),
    ...(operation && exchange.status < 300 ? requestFaults(api, operation, exchange) : []),
  ];
}

function findOperation({ paths }: ApiDocument, { method, path }: Exchange): ApiOperation | undefined {
  const [address = ''] = path.split('?');
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  for (const [template, operations] of Object.entries(paths)) {
    const pattern = template.replaceAll(/[.+]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+');
    if (new RegExp(`^${pattern}$`).test(address)) return operations[verb];
  }
  return undefined;
}

/** The answer of an address, or of a method, that the document does not have. */
function strayResponse({ components }: ApiDocument, status: number): ApiResponse | undefined {
  const { NotFound, MethodNotAllowed } = components.responses ?? {};
  if (status === 405) return MethodNotAllowed;
  return status === 404 ? NotFound : ANYWHERE.includes(status) ? anyProblem(components) : undefined;
}

/** A problem document with any of the headers that are documented. */
function anyProblem({ headers, responses }: ApiDocument['components']): ApiResponse {
  return { ...responses?.['NotFound'], headers: headers ?? {} };
}

/** Compiles each schema of the document once: it takes milliseconds, which would be seen in what clients measure. */
function createValidators(document: ApiDocument): (schema: AnySchema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const compiled = new Map<AnySchema, ValidateFunction>();
  return (schema) => {
    const validate = compiled.get(schema) ?? ajv.compile(withComponents(schema, document));
    compiled.set(schema, validate);
    return validate;
  };
}

function withComponents(schema: AnySchema, { components }: ApiDocument): AnySchema {
  return typeof schema === 'object' ? { ...schema, components: { schemas: components.schemas } } : schema;
}

function describe({ message, params }: { message?: string | undefined; params: Record<string, unknown> }): string {
  const property = params['additionalProperty'];
  return typeof property === 'string' ? `has the property "${property}", which is not documented` : String(message);
}
