import type { AnySchema } from 'ajv/dist/2020.js';

/** One request and its answer, as a client saw them. */
export interface Exchange {
  method: string;
  /** Path and query. */
  path: string;
  requestHeaders?: Record<string, string> | undefined;
  /** The body that was sent, when it was text. */
  requestText?: string | undefined;
  status: number;
  headers: Headers;
  text: string;
}

interface Reference {
  $ref: string;
}

export interface ApiResponse {
  headers?: Record<string, ApiHeader | Reference> | undefined;
  content?: Record<string, { schema: AnySchema }> | undefined;
}

export interface ApiHeader {
  required?: boolean;
  schema: AnySchema;
}

export interface ApiOperation {
  parameters?: { name: string; in: string; required?: boolean; schema: AnySchema }[];
  requestBody?: { content: Record<string, { schema: AnySchema }> };
  responses: Record<string, ApiResponse | Reference>;
}

/** The part of an OpenAPI 3.1 document that answers are compared with. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: {
    schemas?: Record<string, AnySchema>;
    headers?: Record<string, ApiHeader>;
    responses?: Record<string, ApiResponse>;
  };
}

export interface Api {
  document: ApiDocument;
  /** What in a value does not fit a schema; `what` begins each sentence. */
  faultsOf: (schema: AnySchema, value: unknown, what: string) => string[];
}

/** What a reference into the document stands for; anything else is returned as it is. */
export function resolved<T extends object>(document: ApiDocument, part: T | Reference): T {
  if (!('$ref' in part)) return part;
  const steps = part.$ref.replace(/^#\//, '').split('/');
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
  if (found === undefined) throw new Error(`nothing stands at ${part.$ref}`);
  return found as T;
}

/**
 * The document with every object closed that says nothing about further properties. Clients are asked to ignore what
 * they do not know; tests are not.
 */
export function closed(document: ApiDocument): ApiDocument {
  return closePart(document) as ApiDocument;
}

function closePart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closePart);
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closePart(value)]));
  const isOpen = copy['type'] === 'object' && copy['properties'] !== undefined && !('additionalProperties' in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
