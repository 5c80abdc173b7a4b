import type { ResponseConfig } from '@asteasolutions/zod-to-openapi';
import { documentedProblem } from '../../../packages/contracts/src/problem.ts';
import { scopeOf } from '../../../packages/contracts/src/public-operations.ts';
import { fail, refusalOf } from '../../../packages/contracts/src/errors.ts';
import type { AppError } from '../../../packages/contracts/src/errors.ts';
import type { Components } from './openapi-components.ts';
import type { HeaderName } from '../../../packages/shared/src/http/openapi-headers.ts';
import { commonHeaders, headerRefs } from './openapi-responses.ts';
import { headersOfError, toProblem } from '../../../packages/shared/src/http/problem.ts';
import { parsePart, takesNoQuery } from '../../../packages/shared/src/http/route.ts';
import type { Audience, RouteDefinition } from '../../../packages/shared/src/http/route.ts';
import { refuseQuery } from '../../../packages/shared/src/http/undeclared-input.ts';

const EXAMPLE_IDS = { requestId: '5f0c2d1e-6a0b-4a57-9d2c-0d4a3c6f2b11', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' };

/** The refusals of a route by status. Every example is a refusal of the code, shown as the service would send it. */
export function refusalResponses(definition: RouteDefinition, components: Components): Record<string, ResponseConfig> {
  const byStatus = new Map<number, AppError[]>();
  for (const refusal of [...(definition.refusalExamples?.() ?? []), ...commonRefusals(definition)]) {
    const { status } = toProblem(refusal, EXAMPLE_IDS);
    const known = byStatus.get(status) ?? [];
    if (known.some(({ code, reason }) => code === refusal.code && reason === refusal.reason)) continue;
    byStatus.set(status, [...known, refusal]);
  }
  const entries = [...byStatus].filter(([status]) => definition.responses[status] === undefined);
  return Object.fromEntries(
    entries.map(([status, refusals]) => [String(status), toResponse(definition, refusals, components)]),
  );
}

/** What requests get that belong to no operation: an unknown address, or a method that an address does not have. */
export function addressResponses(audience: Audience, components: Components) {
  const nowhere = { audience, operation: 'any' };
  return {
    NotFound: toResponse(nowhere, [fail.notFound()], components),
    MethodNotAllowed: toResponse(nowhere, [fail.methodNotAllowed(['GET'])], components),
  };
}

type Addressed = Pick<RouteDefinition, 'audience' | 'operation' | 'authenticated'>;

function toResponse(definition: Addressed, refusals: AppError[], components: Components) {
  const own = refusals.flatMap((refusal) => Object.keys(headersOfError(refusal)) as HeaderName[]);
  const limited = definition.audience === 'public' && refusals[0]?.kind === 'unauthenticated';
  const common = commonHeaders(definition).filter((name) => !limited || !name.startsWith('RateLimit'));
  return {
    description: refusals.map(describe).join('\n'),
    headers: headerRefs([...new Set([...common, ...own])], components),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          refusals.map((refusal) => [refusal.reason, exampleOf(refusal, definition.operation, components)]),
        ),
      },
    },
  };
}

const describe = ({ code, reason, message }: AppError) =>
  `- ${code === undefined ? '' : `${code}, `}\`${reason}\`: ${message}`;

function exampleOf(refusal: AppError, operation: string, components: Components): { $ref: string } {
  const value = toProblem(refusal, EXAMPLE_IDS);
  components.checked(value, documentedProblem, operation);
  const summary = refusal.code === undefined ? refusal.reason : `${refusal.code}: ${refusal.reason}`;
  return components.example(refusal.reason, operation, { summary, value });
}

/** Refusals that follow from what a route declares. */
function commonRefusals(definition: RouteDefinition): AppError[] {
  const { audience, authenticated, params } = definition;
  const scope = audience === 'public' ? scopeOf(definition.operation) : undefined;
  const isLimited = audience === 'public' && authenticated !== false;
  return [
    ...(authenticated === false ? [] : unauthenticated[audience]()),
    ...(scope && scope !== 'any' ? [fail.scopeMissing(scope)] : []),
    ...faultyInput(definition),
    ...(params ? [fail.notFound('There is no such resource.')] : []),
    ...(isLimited ? [fail.rateLimited('rate_exceeded', 1, { limit: 'requests' })] : []),
    ...(isLimited ? [fail.rateLimited('too_many_invalid_keys', 42)] : []),
    ...(audience === 'admin' ? [fail.rateLimited('too_many_invalid_tokens', 42)] : []),
    ...(isLimited ? [fail.sysUnavailable('key_store_unavailable')] : []),
    ...(audience === 'admin' || audience === 'internal' ? [fail.sysUnavailable('database_unavailable')] : []),
    fail.internal(),
  ];
}

const unauthenticated: Record<RouteDefinition['audience'], () => AppError[]> = {
  public: () => [fail.authRequired('api_key_missing'), fail.authRequired('api_key_invalid')],
  admin: () => [fail.authRequired('token_invalid')],
  internal: () => [fail.authRequired('service_token_missing'), fail.authRequired('service_token_invalid')],
  backend: () => [fail.authRequired('token_invalid')],
};

/** The refusal of a query or body that has only an unknown field. */
function faultyInput(definition: RouteDefinition): AppError[] {
  if (takesNoQuery(definition)) return [refusalOf(() => refuseQuery(STRANGE))];
  const { query, body } = definition;
  const parts = [
    ['query', query],
    ['body', body],
  ] as const;
  return parts
    .filter(([, schema]) => schema && !schema.safeParse(STRANGE).success)
    .map(([part, schema]) => refusalOf(() => parsePart(schema, STRANGE, part)));
}

const STRANGE = { colour: 'red' };
