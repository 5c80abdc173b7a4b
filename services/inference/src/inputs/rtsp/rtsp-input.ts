import { addAbortListener } from 'node:events';
import type { Socket } from 'node:net';
import { credentialsOf } from '@vision/streams/stream-url';
import type { Budget } from '@vision/streams/budget';
import type { LiveInput, OpenOptions } from '../live-input.ts';
import { matroskaInput } from '../video/matroska-input.ts';
import { createRtpVideo } from './rtp-video.ts';
import { isGoodbye } from './rtp-packet.ts';
import { createRtspConnection } from '@vision/streams/rtsp-connection';
import type { RtspConnection } from '@vision/streams/rtsp-connection';
import { startSession } from './rtsp-session.ts';
import type { RtspSession } from './rtsp-session.ts';

const LEAVE_MS = 500;

/**
 * Opens an rtsp stream: the session is held here, over one connection, and ffmpeg receives only the frames.
 * @throws SourceError
 */
export async function openRtsp(options: OpenOptions): Promise<LiveInput> {
  const { url, openTimeoutMs, budget, signal } = options;
  const socket = await options.connect(url, signal);
  const proof = { credentials: credentialsOf(url), answerTimeoutMs: openTimeoutMs };
  const connection = createRtspConnection(socket, { ...proof, budget });
  const givenUp = addAbortListener(signal, () => socket.destroy());
  try {
    const session = await startSession(connection, url);
    const timer = setInterval(() => attempt(socket, session.keepAlive), session.keepAliveMs);
    socket.once('close', () => clearInterval(timer));
    return matroskaInput(packed(connection, session, budget), () => leave(socket, session));
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    givenUp[Symbol.dispose]();
  }
}

async function* packed(connection: RtspConnection, session: RtspSession, budget: Budget): AsyncGenerator<Buffer, void> {
  const { video, control } = session.channels;
  const take = createRtpVideo(session.description, (units) => budget.spend({ parts: units }));
  for await (const { channel, bytes } of connection.packets()) {
    if (channel === video) yield* take(bytes.subarray(4));
    else if (channel === control && isGoodbye(bytes.subarray(4))) return;
  }
}

/** A failed write closes the connection: a server that no longer reads gets no TEARDOWN. */
function attempt(socket: Socket, send: () => void): void {
  try {
    send();
  } catch {
    socket.destroy();
  }
}

function leave(socket: Socket, session: RtspSession): void {
  if (socket.destroyed) return;
  attempt(socket, session.leave);
  socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
  socket.once('close', () => clearTimeout(timer));
}
