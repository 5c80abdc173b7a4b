import { connect } from 'node:net';
import { tcpServer } from './live-servers.ts';

/** A camera that serves one viewer at a time and refuses others meanwhile. */
export async function singleSession(source: string) {
  const { hostname, port, pathname } = new URL(source);
  let viewers = 0;
  let turnedAway = 0;
  const server = await tcpServer((socket) => {
    if (viewers > 0) {
      turnedAway += 1;
      socket.destroy();
      return;
    }
    viewers += 1;
    const upstream = connect(Number(port), hostname);
    socket.pipe(upstream).pipe(socket);
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => {
      viewers -= 1;
      upstream.destroy();
    });
  });
  const url = `http://127.0.0.1:${server.port}${pathname}`;
  return { url, viewers: () => viewers, turnedAway: () => turnedAway, close: server.close };
}
