import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import { fail } from '@vision/contracts/errors';

const openapiDocument = z
  .looseObject({ openapi: z.string(), info: z.looseObject({ title: z.string(), version: z.string() }) })
  .meta({ id: 'OpenApiDocument' });

/** Serves the generated document of the public API; it is read once. */
export const openapiDocumentRoute = ({ openapiFile }: { openapiFile: string }) => {
  let document: string | undefined;
  return route(
    {
      operation: 'getOpenapiDocument',
      method: 'get',
      path: '/openapi.json',
      summary: 'Returns this document',
      description: 'Requires no API key. `/docs` shows it in a browser.',
      tag: 'Documentation',
      audience: 'public',
      authenticated: false,
      responses: { 200: { description: 'OpenAPI 3.1', schema: openapiDocument } },
      refusalExamples: () => [fail.sysUnavailable('openapi_document_missing')],
    },
    async ({ res }) => {
      document ??= read(openapiFile);
      res.status(200).type('application/json').send(document);
      return undefined;
    },
  );
};

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fail.sysUnavailable('openapi_document_missing', error);
  }
}
