import type { RequestHandler } from 'express';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const compress = promisify(gzip);

interface Content {
  plain: Buffer | string;
  gzipped?: Buffer;
}

const files: Record<string, { type: string; read: () => Promise<Content> }> = {
  '/docs': { type: 'text/html', read: async () => ({ plain: PAGE }) },
  '/docs/start.js': { type: 'text/javascript', read: async () => ({ plain: START }) },
  '/docs/swagger-ui.css': { type: 'text/css', read: readOnce('swagger-ui.css') },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript', read: readOnce('swagger-ui-bundle.js') },
};

/** All responses share one copy of a file, plain and compressed, however many readers there are. */
function readOnce(name: string): () => Promise<Content> {
  let content: Promise<Content> | undefined;
  return () => {
    content ??= readFile(join(directory, name))
      .then(async (plain) => ({ plain, gzipped: await compress(plain) }))
      .catch((error: unknown) => {
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
  const { plain, gzipped } = await file.read();
  const isGzipped = gzipped !== undefined && req.acceptsEncodings('gzip') === 'gzip';
  res
    .set({
      ...(isGzipped ? { 'Content-Encoding': 'gzip' } : {}),
      'Content-Security-Policy':
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
    .vary('Accept-Encoding')
    .type(file.type)
    .send(isGzipped ? gzipped : plain);
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
