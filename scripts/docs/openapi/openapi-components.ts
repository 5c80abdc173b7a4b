import { zodToOpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { documentedProblem } from '../../../packages/contracts/src/problem.ts';
import { headerDocs } from '../../../packages/shared/src/http/openapi-headers.ts';
import type { HeaderName } from '../../../packages/shared/src/http/openapi-headers.ts';

interface Reference {
  $ref: string;
}

/** What the operations of a document share. */
export interface Components {
  /** Makes every schema with a `meta.id` in this one a component of that name. */
  name: (schema: z.ZodType) => void;
  /** The example, when it fits the schema. @throws when it does not. */
  checked: (example: unknown, schema: z.ZodType, operation: string) => unknown;
  header: (name: HeaderName) => Reference;
  /** Stores an example once; another one of the same name gets the name of its operation in front. */
  example: (name: string, operation: string, example: { summary: string; value: object }) => Reference;
}

export function createComponents(registry: OpenAPIRegistry): Components {
  const headers = new Set<string>();
  const examples = new Map<string, object>();
  nameSchemas(documentedProblem);
  return {
    name: nameSchemas,
    checked: (example, schema, operation) => {
      const parsed = schema.safeParse(example);
      if (!parsed.success) throw new Error(`${operation}: its example does not fit: ${parsed.error.message}`);
      if (!isDeepStrictEqual(parsed.data, example)) {
        throw new Error(`${operation}: its example holds what the schema does not name: ${JSON.stringify(example)}`);
      }
      return example;
    },
    header: (name) => {
      if (!headers.has(name)) registry.registerComponent('headers', name, headerDocs[name]);
      headers.add(name);
      return { $ref: `#/components/headers/${name}` };
    },
    example: (name, operation, example) => {
      const isFree = isDeepStrictEqual(examples.get(name) ?? example, example);
      const key = isFree ? name : `${operation}.${name}`;
      if (!examples.has(key)) registry.registerComponent('examples', key, example);
      examples.set(key, example);
      return { $ref: `#/components/examples/${key}` };
    },
  };
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- "not really deprecated", as its own note says
const generated = zodToOpenAPIRegistry;

// The generator reads `meta.id` of schemas that its own registry knows; converting one to JSON Schema visits
// all within it.
function nameSchemas(schema: z.ZodType): void {
  z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema }) => {
      if (z.globalRegistry.get(zodSchema)?.id !== undefined && !generated.has(zodSchema)) generated.add(zodSchema, {});
    },
  });
}
