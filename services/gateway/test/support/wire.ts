import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface Wire {
  socket: Socket;
  /** What came back so far. */
  text: () => string;
  /** Resolves with everything that came when the other side closes. */
  ended: Promise<string>;
}

/** A connection on which a test sends exact bytes. */
export async function wire(url: string, ...lines: string[]): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  const ended = new Promise<string>((resolve) => {
    socket.on('error', () => undefined).on('close', () => resolve(received));
  });
  if (lines.length > 0) socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return { socket, text: () => received, ended };
}
