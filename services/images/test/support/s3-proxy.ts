import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

type Mode = 'pass' | 'refuse' | 'hang';

/** Forwards requests to the store unless `modeOf` says otherwise: refused with 500, or never answered. */
export async function startS3Proxy(endpoint: string, modeOf: (method: string, path: string) => Mode) {
  const server = createServer((req, res) => {
    const path = req.url ?? '/';
    const mode = modeOf(req.method ?? '', path);
    if (mode !== 'pass') {
      req.resume();
      if (mode === 'refuse') res.writeHead(500).end();
      return;
    }
    const target = new URL(path, endpoint);
    // Keeps the host that the client signed.
    const onward = request(target, { method: req.method, headers: req.headers, setHost: false }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
