import type { RequestHandler } from 'express';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const files: Record<string, { type: string; read: () => Promise<Buffer | string> }> = {
  '/docs': { type: 'text/html', read: async () => PAGE },
  '/docs/start.js': { type: 'text/javascript', read: async () => START },
  '/docs/swagger-ui.css': { type: 'text/css', read: readOnce('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript', read: readOnce('swagger-ui-bundle.js') },
};

/** All answers share one copy of a file, however many of them wait for their readers. */
function readOnce(name: string): () => Promise<Buffer> {
  let content: Promise<Buffer> | undefined;
  return () => {
    content ??= readFile(join(directory, name)).catch((error: unknown) => {
      content = undefined;
      throw error;
    });
    return content;
  };
}

/** The browsable documentation, from files of an installed package: the page loads nothing from elsewhere. */
export const apiDocs: RequestHandler = async (req, res, next) => {
  const file = req.method === 'GET' ? files[req.path.replace(/(?<=\/docs)\/$/, '')] : undefined;
  if (!file) {
    next();
    return;
  }
  res.locals['operation'] = 'getDocs';
  res
    .set({
      'Content-Security-Policy':
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
    .type(file.type)
    .send(await file.read());
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vision Recognition Service</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null });
`;
