import { createRtspReader, headerOf } from '@vision/streams/rtsp-message';
import { tcpServer } from './live-servers.ts';

export interface RtspRequest {
  method: string;
  uri: string;
  cseq: string;
}

/** What the server says to each method; bytes as they go out, so that they may break every rule. */
export type RtspScript = Record<string, (request: RtspRequest) => string | Buffer>;

export const SDP = [
  'v=0',
  'o=- 0 0 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 0.0.0.0',
  't=0 0',
  'm=video 0 RTP/AVP 96',
  'a=rtpmap:96 H264/90000',
  'a=control:track1',
  '',
].join('\r\n');

/** An answer in the right form: lines of headers, then the body with its length. */
export function rtspAnswer({ cseq }: RtspRequest, status: string, headers: readonly string[] = [], body = ''): string {
  const lines = [`RTSP/1.0 ${status}`, `CSeq: ${cseq}`, ...headers];
  if (body !== '') lines.push(`Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const HONEST: RtspScript = {
  OPTIONS: (request) => rtspAnswer(request, '200 OK', ['Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER']),
  DESCRIBE: (request) => rtspAnswer(request, '200 OK', ['Content-Type: application/sdp'], SDP),
  SETUP: (request) =>
    rtspAnswer(request, '200 OK', ['Transport: RTP/AVP/TCP;unicast;interleaved=0-1', 'Session: 1;timeout=4']),
};

/** An RTSP server that says what a test wants, and is honest where it wants nothing. */
export async function scriptedRtsp(script: RtspScript, { closesAfter }: { closesAfter?: string } = {}) {
  const requests: RtspRequest[] = [];
  const server = await tcpServer((socket) => {
    const read = createRtspReader();
    socket.on('data', (chunk: Buffer) => {
      for (const part of read(chunk)) {
        if (part.kind === 'packet') continue;
        const [method = '', uri = ''] = part.startLine.split(' ');
        const request = { method, uri, cseq: headerOf(part, 'cseq') ?? '' };
        requests.push(request);
        const answer = script[method] ?? HONEST[method] ?? ((asked) => rtspAnswer(asked, '200 OK', ['Session: 1']));
        socket.write(answer(request));
        if (method === closesAfter) socket.end();
      }
    });
  });
  return { ...server, requests };
}
