import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestStream {
  /** An address that answers as an HLS stream. */
  url: string;
  origin: string;
  close: () => Promise<void>;
}

/** A peer that passes the probe. */
export async function startStream(): Promise<TestStream> {
  const server = createServer((_req, res) =>
    res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end('#EXTM3U\n'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/live.m3u8`,
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
