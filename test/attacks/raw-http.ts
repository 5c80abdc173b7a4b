import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import { atMost } from '@vision/shared/async/at-most';
import { system } from '../support/system.ts';

export interface RawOptions {
  url?: string;
  /** The address of this machine that it comes from: limits for one address then touch nobody else. */
  from?: string;
  /** How long an end of the connection is waited for. */
  patienceMs?: number;
}

/** Sends bytes as they are and reads until the other side closes; returns the answers in a few words. */
export async function sendRaw(bytes: string | Buffer, options: RawOptions = {}): Promise<string> {
  const socket = await openRaw(options);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  return saidOn(socket, options.patienceMs);
}

export async function openRaw({ url = system.baseUrl, from }: RawOptions = {}): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...(from === undefined ? {} : { localAddress: from }) });
  // A connection that is refused by a reset may be gone before this side saw it open.
  await once(socket, 'connect').catch((error: unknown) => {
    if (!isNativeError(error) || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  });
  socket.on('error', () => undefined);
  return socket;
}

/** Everything that comes until the other side closes; `left open` when it does not in time. */
export async function saidOn(socket: Socket, patienceMs = 10_000): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  if (socket.closed) resolve();
  socket.once('close', () => resolve());
  const isOpen = !(await atMost(patienceMs, ended));
  socket.destroy();
  const answers = answersIn(Buffer.concat(chunks));
  const words = [...answers, isOpen ? 'left open' : answers.length === 0 ? 'closed' : ''];
  return words.filter(Boolean).join(', then ');
}

/** The answers on one connection, by their own framing. */
function answersIn(bytes: Buffer): string[] {
  const words: string[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.toString('latin1', 0, end < 0 ? rest.length : end);
    const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
    if (end < 0 || status === undefined) return [...words, 'bytes that are no answer'];
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? rest.length);
    const body = rest.subarray(end + 4, end + 4 + length).toString();
    const problem = /problem\+json/i.test(head) ? (JSON.parse(body) as Problem) : undefined;
    words.push([status, problem?.code, problem?.details.reason].filter(Boolean).join(' '));
    rest = rest.subarray(end + 4 + length);
  }
  return words;
}

interface Problem {
  code?: string;
  details: { reason: string };
}

/** A request with everything it needs; a table replaces or adds lines. */
export function rawRequest(line: string, headers: readonly string[], body = ''): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
}
