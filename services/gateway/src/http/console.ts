import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { RequestHandler, Response } from 'express';

interface ConsoleFile {
  type: string;
  /** By content coding; the gateway compresses nothing itself. */
  bodies: { identity: Buffer; br: Buffer; gzip: Buffer };
  etag: string;
  cacheControl: string;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The name holds a digest of the content, so it never changes. */
const HASHED = /-[A-Z0-9]{8}\.(js|css)$/;

/** The page loads from and sends to its own origin only, and no page may frame it. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), bluetooth=(), hid=(), midi=(), ' +
    'accelerometer=(), gyroscope=(), magnetometer=(), display-capture=(), idle-detection=(), local-fonts=()',
  'Referrer-Policy': 'no-referrer',
};

/**
 * Serves the built console at /console/. Its few files are read once, so that no client holds one open; every other
 * address is passed to the API.
 * @throws Error when the folder does not hold a built console.
 */
export function consoleFiles(folder: string): RequestHandler {
  const files = readConsole(folder);
  return (req, res, next) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (isRead && req.path === '/console') {
      res.locals['operation'] = 'getConsole';
      res.redirect(308, '/console/');
      return;
    }
    const file = isRead ? files.get(req.path) : undefined;
    if (!file) {
      next();
      return;
    }
    res.locals['operation'] = 'getConsole';
    res.set({ ...HEADERS, 'Cache-Control': file.cacheControl, ETag: file.etag }).vary('Accept-Encoding');
    if (req.headers['if-none-match'] === file.etag) res.status(304).end();
    else sendFile(res, file, req.acceptsEncodings(['br', 'gzip', 'identity']));
  };
}

function sendFile(res: Response, { type, bodies }: ConsoleFile, coding: string | false): void {
  const known = coding === 'br' || coding === 'gzip' ? coding : 'identity';
  if (known !== 'identity') res.set('Content-Encoding', known);
  res.type(type).send(bodies[known]);
}

function readConsole(folder: string): Map<string, ConsoleFile> {
  const names = namesIn(folder).filter((name) => Object.hasOwn(TYPES, extname(name)));
  if (!names.includes('index.html')) {
    throw new Error(`CONSOLE is true, and ${folder} holds no built console: npm run build -w packages/console`);
  }
  const files = names.map((name): [string, ConsoleFile] => [`/console/${name}`, readOne(folder, name)]);
  const index = files.find(([path]) => path === '/console/index.html')?.[1];
  return new Map(index ? [...files, ['/console/', index]] : files);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOne(folder: string, name: string): ConsoleFile {
  const read = (suffix: string) => readFileSync(join(folder, name + suffix));
  const identity = read('');
  return {
    type: TYPES[extname(name)] ?? '',
    bodies: { identity, br: read('.br'), gzip: read('.gz') },
    etag: `"${createHash('sha256').update(identity).digest('base64url')}"`,
    cacheControl: HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
}
