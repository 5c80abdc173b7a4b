import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Serves a video file as an endless live stream over HTTP, in real time: MPEG-TS, a process for each viewer.
 *
 *     node examples/live-source.ts --file examples/street.mp4 --port 8150
 *
 * The stream is at http://127.0.0.1:<port>/live.ts.
 */
export async function startLiveSource({ video, port = 0 }: { video: string; port?: number }) {
  const viewers = new Set<() => void>();
  const server = createServer((req, res) => {
    if (!req.url?.startsWith('/live.ts')) {
      res.writeHead(404).end();
      return;
    }
    const args = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1', '-i', video, '-map', '0:v:0', '-c', 'copy'];
    const child = spawn('ffmpeg', [...args, '-f', 'mpegts', 'pipe:1'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const end = () => child.kill('SIGKILL');
    viewers.add(end);
    child.once('error', () => res.destroy());
    child.once('close', () => viewers.delete(end));
    res.once('close', end);
    res.writeHead(200, { 'content-type': 'video/mp2t', 'cache-control': 'no-store' });
    child.stdout.pipe(res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.ts`,
    viewers: () => viewers.size,
    /** Ends the streams of all viewers and listens on. */
    disconnect: () => viewers.forEach((end) => end()),
    close: () => {
      viewers.forEach((end) => end());
      server.close();
      server.closeAllConnections();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { file: { type: 'string' }, port: { type: 'string' } } });
  const video = values.file ?? fileURLToPath(new URL('street.mp4', import.meta.url));
  const source = await startLiveSource({ video, port: Number(values.port ?? 8150) });
  console.log(source.url);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => source.close());
}
