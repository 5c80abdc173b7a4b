import type { ResponseConfig } from '@asteasolutions/zod-to-openapi';
import type { Components } from './openapi-components.ts';
import type { HeaderName } from '../../../packages/shared/src/http/openapi-headers.ts';
import type { ResponseDoc, RouteDefinition } from '../../../packages/shared/src/http/route.ts';

/** The answers that a route declares: what it does when it is not refused. */
export function successResponses(definition: RouteDefinition, components: Components): Record<string, ResponseConfig> {
  return Object.fromEntries(
    Object.entries<ResponseDoc>(definition.responses).map(
      ([status, { description, schema, example, mediaTypes, headers = [] }]) => {
        const names = [...commonHeaders(definition), ...headers];
        if (schema) components.name(schema);
        const json = schema && {
          schema,
          ...(example === undefined ? {} : { example: components.checked(example, schema, definition.operation) }),
        };
        const content = json ? { 'application/json': json } : mediaTypes && binary(mediaTypes);
        return [
          status,
          {
            description,
            headers: headerRefs(names, components),
            ...(content ? { content } : {}),
          },
        ];
      },
    ),
  );
}

/** Contents that are sent as they are. */
const binary = (mediaTypes: string[]) =>
  Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: 'string' as const, format: 'binary' } }]));

/** Headers of every answer of a route, refusals included. */
export function commonHeaders({
  audience,
  authenticated,
}: Pick<RouteDefinition, 'audience' | 'authenticated'>): HeaderName[] {
  const isLimited = audience === 'public' && authenticated !== false;
  return ['X-Request-Id', 'X-Trace-Id', ...(isLimited ? (['RateLimit-Policy', 'RateLimit'] as const) : [])];
}

export function headerRefs(names: HeaderName[], components: Components): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, components.header(name)]));
}
