import openapiTS, { astToString } from 'openapi-typescript';
import type { OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';

/** TypeScript types of a client, as openapi-typescript makes them from a document; a file in a form is a Blob. */
export async function clientTypes(document: string): Promise<string> {
  const nodes = await openapiTS(JSON.parse(document) as OpenAPI3, {
    silent: true,
    transform: ({ format }) => (format === 'binary' ? ts.factory.createTypeReferenceNode('Blob') : undefined),
  });
  return `// Written by \`npm run docs\` from docs/openapi/public.json.\n${astToString(nodes)}`;
}
