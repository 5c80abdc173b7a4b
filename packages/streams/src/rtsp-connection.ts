import type { Socket } from 'node:net';
import { answerChallenge } from './digest-auth.ts';
import type { Credentials } from './digest-auth.ts';
import { SourceError } from './source-error.ts';
import type { Budget } from './budget.ts';
import { withinTime } from './within-time.ts';
import { createRtspReader, formatMessage, headerOf, headersOf, statusOf } from './rtsp-message.ts';
import type { RtspMessage, RtspPacket, RtspPart } from './rtsp-message.ts';

/** Requests and packets over one connection. Nothing that a server says leads to another one. */
export interface RtspConnection {
  /**
   * Sends a request and waits for its answer. A challenge is answered once; packets that come meanwhile are kept.
   * @throws SourceError `redirect_refused`, `timeout`, `unreadable`, `connection_failed`
   */
  request: (method: string, uri: string, headers?: readonly [string, string][]) => Promise<RtspMessage>;
  /** Sends a request whose answer `packets` hears of. */
  post: (method: string, uri: string, headers: readonly [string, string][]) => void;
  /** Everything interleaved, until the server closes. @throws SourceError */
  packets: () => AsyncGenerator<RtspPacket, void>;
}

const MAX_EARLY_BYTES = 8 << 20;
// What a packet takes in memory beside its bytes.
const PACKET_COSTS = 100;
// Answers to the server's requests are short; a server that does not read them is not waited for.
const MAX_UNSENT_BYTES = 65_536;

interface RtspOptions {
  credentials: Credentials | undefined;
  answerTimeoutMs: number;
  budget: Budget;
}

export function createRtspConnection(
  socket: Socket,
  { credentials, answerTimeoutMs, budget }: RtspOptions,
): RtspConnection {
  const parts = readParts(socket, budget);
  const sender = createSender(socket, credentials);
  const early: RtspPacket[] = [];
  let earlyBytes = 0;

  const keep = (packet: RtspPacket) => {
    earlyBytes += packet.bytes.length + PACKET_COSTS;
    if (earlyBytes > MAX_EARLY_BYTES) throw new SourceError('unreadable');
    early.push(packet);
  };

  const readAnswer = async (): Promise<RtspMessage> => {
    for (;;) {
      const { value: part } = await parts.next();
      if (!part) throw new SourceError('connection_failed');
      if (part.kind === 'packet') keep(part);
      else if (statusOf(part) === undefined) sender.refuse(part);
      else if (headerOf(part, 'cseq') === `${sender.lastSequence()}`) return part;
      else throw new SourceError('unreadable');
    }
  };

  const request: RtspConnection['request'] = async (method, uri, headers = []) => {
    for (let tries = 1; ; tries += 1) {
      sender.post(method, uri, headers);
      const answer = await withinTime(readAnswer(), answerTimeoutMs, () => socket.destroy());
      const isAnswerable = sender.takeChallenge(answer);
      if (!isAnswerable || tries === 2) return answer;
    }
  };

  async function* packets(): AsyncGenerator<RtspPacket, void> {
    yield* early.splice(0);
    for await (const part of parts) {
      if (part.kind === 'packet') yield part;
      else if (statusOf(part) === undefined) sender.refuse(part);
      else sender.takeChallenge(part);
    }
  }
  return { request, post: sender.post, packets };
}

/** Numbers requests and proves who asks. */
function createSender(socket: Socket, credentials: Credentials | undefined) {
  let challenges: string[] = [];
  let sequence = 0;
  const send = (bytes: Buffer) => {
    if (socket.writableLength > MAX_UNSENT_BYTES) throw new SourceError('connection_failed');
    if (socket.writable) socket.write(bytes);
  };
  const post: RtspConnection['post'] = (method, uri, headers) => {
    sequence += 1;
    const proof = credentials && challenges.length > 0 && answerChallenge(challenges, credentials, { method, uri });
    const own: [string, string][] = [
      ['CSeq', `${sequence}`],
      ['User-Agent', 'vision'],
    ];
    if (proof) own.push(['Authorization', proof]);
    send(formatMessage(`${method} ${uri} RTSP/1.0`, [...own, ...headers]));
  };
  return {
    post,
    lastSequence: () => sequence,
    /** What the server asks of us is not done, and going elsewhere ends everything. */
    refuse: (asked: RtspMessage) => {
      if (asked.startLine.startsWith('REDIRECT ')) throw new SourceError('redirect_refused');
      const id = headerOf(asked, 'cseq') ?? '';
      if (/^\d{1,9}$/.test(id)) send(formatMessage('RTSP/1.0 501 Not Implemented', [['CSeq', id]]));
    },
    /** Whether the answer is a challenge that can be met by asking again: a first one, or one with a new nonce. */
    takeChallenge: (answer: RtspMessage): boolean => {
      const status = statusOf(answer) ?? 0;
      if (status >= 300 && status < 400) throw new SourceError('redirect_refused');
      if (status !== 401) return false;
      const isFirst = challenges.length === 0;
      challenges = headersOf(answer, 'www-authenticate');
      const isStale = challenges.some((text) => /stale\s*=\s*"?true/i.test(text));
      return credentials !== undefined && challenges.length > 0 && (isFirst || isStale);
    },
  };
}

async function* readParts(socket: Socket, budget: Budget): AsyncGenerator<RtspPart, void> {
  const read = createRtspReader();
  for await (const chunk of socket) {
    let parts: RtspPart[];
    try {
      parts = read(chunk as Buffer);
    } catch {
      throw new SourceError('unreadable');
    }
    budget.spend({ bytes: (chunk as Buffer).length, parts: 1 + parts.length });
    yield* parts;
    await budget.ready();
  }
}
