import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testAddress } from '@vision/shared/testing/environment';

/** A proxy in front of the object store that counts downloads of videos. */
export interface CountingStore {
  endpoint: string;
  downloads: () => number;
  /** Runs before the store is asked how large a video is, which precedes every try at a download. */
  beforeStat: (act: () => void) => void;
  /** Runs before a download is passed on to the store. */
  beforeDownload: (act: () => void) => void;
  close: () => Promise<void>;
}

export async function countingStore(): Promise<CountingStore> {
  const store = new URL(testAddress('TEST_S3_ENDPOINT'));
  let downloads = 0;
  const acts: Record<'stat' | 'download', () => void> = { stat: () => undefined, download: () => undefined };
  const server = createServer((req, res) => {
    const isVideo = req.url?.includes('/videos/');
    if (isVideo && req.method === 'HEAD') acts.stat();
    if (isVideo && req.method === 'GET') {
      downloads += 1;
      acts.download();
    }
    // With the headers as they are: the signature covers the name of the host.
    const { method, url: path, headers } = req;
    const passed = request({ host: store.hostname, port: store.port, method, path, headers }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
      res.on('close', () => reply.destroy());
    });
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    downloads: () => downloads,
    beforeStat: (act) => {
      acts.stat = act;
    },
    beforeDownload: (act) => {
      acts.download = act;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
