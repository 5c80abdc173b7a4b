import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { Outcome } from '@vision/contracts/outcome';
import { publicReasons } from '@vision/contracts/reasons';
import type { ReasonOf } from '@vision/contracts/reasons';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { Caller } from './caller.ts';
import { ClientGoneError } from '../upstream/ended-call.ts';
import { adviceOnValue } from './invalid-value.ts';
import { readJson } from './json-body.ts';
import { underDeadline } from './request-deadline.ts';
import { noteOutcome } from './server-span.ts';
import { refuseBody, refuseQuery } from './undeclared-input.ts';
import type { HeaderName } from './openapi-headers.ts';

export type Method = 'get' | 'post' | 'put' | 'delete';
/** Who the route is for; decides which OpenAPI document lists it. */
export type Audience = 'public' | 'admin' | 'internal' | 'backend';

export interface ResponseDoc {
  description: string;
  schema?: z.ZodType | undefined;
  /** A body that fits the schema. */
  example?: unknown;
  /** Media types of a body that is not JSON and that the route sends by itself. */
  mediaTypes?: string[] | undefined;
  /** Headers that only this answer carries. */
  headers?: HeaderName[] | undefined;
}

/** Documents a body that the route reads itself. */
export interface BodyDoc {
  contentType: string;
  schema: z.ZodType;
  example?: unknown;
  /** Multipart only: the media types of a file field, separated by commas. */
  encoding?: Record<string, { contentType: string }> | undefined;
}

type InvalidReason = ReasonOf<'OP-TASK-REQUEST-INVALID'>;

export interface RouteDefinition<P = unknown, Q = unknown, B = unknown> {
  /** camelCase name of the operation; also the OpenAPI operationId and the name in the access log. */
  operation: string;
  method: Method;
  /** OpenAPI form: `/v1/vision/tasks/{task_id}`. */
  path: string;
  summary: string;
  description?: string | undefined;
  /** The resource it belongs to; groups operations in the documents. */
  tag?: string | undefined;
  audience: Audience;
  /** false: answered without a caller. */
  authenticated?: boolean | undefined;
  params?: z.ZodType<P> | undefined;
  query?: z.ZodType<Q> | undefined;
  /** Documents a query that the route checks by itself. */
  queryDoc?: z.ZodObject | undefined;
  headers?: z.ZodObject | undefined;
  /** Another service owns the operation and validates query and body. */
  isForwarded?: boolean | undefined;
  /** A JSON body; absent for routes that read the body themselves. */
  body?: z.ZodType<B> | undefined;
  /** A body that fits `body`. */
  bodyExample?: unknown;
  /** Reasons for invalid values in fields of the body, by the field; `body_invalid` for the others. */
  bodyReasons?: Record<string, InvalidReason> | undefined;
  bodyDoc?: BodyDoc | undefined;
  responses: Record<number, ResponseDoc>;
  /**
   * Whether the work ends when the service that asks has stopped waiting; absent: for reads. What changes something
   * goes on, because the caller comes back and asks for its outcome.
   */
  endsWithDeadline?: boolean | undefined;
  /** One of each refusal of its own; the documents take status, code, reason and wording from them. */
  refusalExamples?: (() => AppError[]) | undefined;
}

export interface RouteContext<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The authenticated caller. Reading it throws on a route whose authentication names none. */
  readonly caller: Caller;
  req: Request;
  res: Response;
  /** Aborted when the client goes away before the answer. */
  signal: AbortSignal;
}

export interface Reply {
  status: number;
  /** Parsed with the schema of `responses[status]`, so nothing undeclared leaves. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** Outcome of the request, for its span and for the service that passed it on. */
  outcome?: Outcome | undefined;
}

export interface Route {
  definition: RouteDefinition;
  handler: RequestHandler;
}

/**
 * Declares one HTTP operation. Input is parsed with the zod schemas (a failure is OP-TASK-REQUEST-INVALID with
 * `details.field`); a public operation refuses query parameters and bodies that it does not declare. The reply is
 * parsed with the schema of its status, and the definition feeds the OpenAPI document. A handler that returns nothing
 * has answered by itself (streams).
 */
export function route<P = unknown, Q = unknown, B = unknown>(
  definition: RouteDefinition<P, Q, B>,
  handle: (context: RouteContext<P, Q, B>) => Promise<Reply | undefined>,
): Route {
  const isBinding = definition.endsWithDeadline ?? definition.method === 'get';
  const handler: RequestHandler = async (req, res) => {
    const ending = new AbortController();
    endWithClient(res, ending);
    const params = parsePart(definition.params, req.params, 'path') as P;
    if (takesNoQuery(definition)) refuseQuery(req.query);
    if (takesNoBody(definition)) await refuseBody(req);
    const context: RouteContext<P, Q, B> = {
      params,
      query: parsePart(definition.query, req.query, 'query') as Q,
      body: (definition.body
        ? parsePart(definition.body, await readJson(req), 'body', definition.bodyReasons)
        : undefined) as B,
      get caller() {
        return callerOf(res, definition.operation);
      },
      req,
      res,
      signal: ending.signal,
    };
    const reply = await underDeadline({ req, res, isBinding, ending }, () => handle(context));
    if (reply) send(res, definition, reply);
  };
  return { definition: definition, handler };
}

const isStrict = ({ audience, isForwarded }: RouteDefinition) => audience === 'public' && isForwarded !== true;

/** Whether undeclared query parameters are refused. */
export function takesNoQuery(definition: RouteDefinition): boolean {
  return isStrict(definition) && !definition.query && !definition.queryDoc;
}

/** Whether a body with any field is refused. */
function takesNoBody(definition: RouteDefinition): boolean {
  return isStrict(definition) && !definition.body && !definition.bodyDoc;
}

function callerOf(res: Response, operation: string): Caller {
  const caller = res.locals['caller'] as Caller | undefined;
  if (!caller) throw new Error(`${operation} asks for its caller, but the route authenticates none`);
  return caller;
}

function send(res: Response, definition: RouteDefinition, reply: Reply): void {
  if (reply.outcome) noteOutcome(res, reply.outcome);
  res.status(reply.status).set(reply.headers ?? {});
  if (reply.body === undefined) {
    res.end();
    return;
  }
  const schema = definition.responses[reply.status]?.schema;
  res.json(schema ? schema.parse(reply.body) : reply.body);
}

/**
 * Parses one part of a request. A refinement whose `params` have a `reason` is refused with it.
 * @throws AppError OP-TASK-REQUEST-INVALID or, for paths, not found.
 */
export function parsePart(
  schema: z.ZodType | undefined,
  input: unknown,
  part: 'path' | 'query' | 'body',
  reasons: Record<string, InvalidReason> = {},
): unknown {
  if (!schema) return input;
  const parsed = schema.safeParse(input, { error: (issue) => adviceOnValue(issue, part === 'query') });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (part === 'path') {
    throw fail.notFound(`There is no such resource. ${sentence(String(issue?.path[0] ?? ''), issue?.message)}`);
  }
  const unknownKeys = issue?.code === 'unrecognized_keys' ? issue.keys : undefined;
  const field = [...(issue?.path ?? []), ...(unknownKeys?.slice(0, 1) ?? [])].map(String).join('.').slice(0, 200);
  const reason = unknownKeys ? 'unknown_field' : (ownReason(issue, reasons) ?? (`${part}_invalid` as const));
  throw fail.requestInvalid(reason, sentence(field, issue?.message), field ? { field } : {});
}

function ownReason(
  issue: z.core.$ZodIssue | undefined,
  reasons: Record<string, InvalidReason>,
): InvalidReason | undefined {
  const given: unknown = issue?.code === 'custom' ? issue.params?.['reason'] : undefined;
  if (isInvalidReason(given)) return given;
  const top = String(issue?.path[0]);
  return Object.hasOwn(reasons, top) ? reasons[top] : undefined;
}

const isInvalidReason = (reason: unknown): reason is InvalidReason =>
  typeof reason === 'string' && Object.hasOwn(publicReasons['OP-TASK-REQUEST-INVALID'], reason);

function sentence(field: string, message: string | undefined): string {
  const what = message ?? 'The request is not valid';
  return field ? `${field}: ${what}.` : `${what}.`;
}

function endWithClient(res: Response, ending: AbortController): void {
  res.once('close', () => {
    if (!res.writableFinished) ending.abort(new ClientGoneError());
  });
}
