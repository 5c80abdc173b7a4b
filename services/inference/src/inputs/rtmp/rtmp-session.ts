import { SourceError } from '@vision/streams/source-error';
import type { Budget } from '@vision/streams/budget';
import { withinTime } from '@vision/streams/within-time';
import type { AmfObject, AmfValue } from './amf0.ts';
import { createFlvVideo } from './flv-video.ts';
import type { RtmpConnection, RtmpEvent } from './rtmp-connection.ts';
import { reasonOfRefusal } from './rtmp-refusal.ts';

/** The server and the stream to request. */
export interface RtmpPlace {
  /** `host:port` as written in the address. */
  authority: string;
  app: string;
  stream: string;
}

/** A refusal of `connect`, with the server's description. */
export class RtmpRefusal extends SourceError {
  readonly description: string;

  constructor(info: AmfObject) {
    super(reasonOfRefusal(info));
    const description = info.get('description');
    this.description = typeof description === 'string' ? description : '';
  }
}

const CONNECT = 1;
const CREATE_STREAM = 2;
const BUFFER_MS = 3000;
const LIVE_ONLY = -1000;
const ENDED = new Set(['NetStream.Play.Stop', 'NetStream.Play.UnpublishNotify', 'NetStream.Play.Complete']);

/**
 * Connects to an application and requests a stream (Adobe, "RTMP specification 1.0", 7.2).
 *
 * @throws SourceError; RtmpRefusal when the application refuses
 */
export async function playStream(
  connection: RtmpConnection,
  place: RtmpPlace,
  { answerTimeoutMs, giveUp }: { answerTimeoutMs: number; giveUp: () => void },
): Promise<void> {
  const { app, stream, authority } = place;
  const within = <T>(work: Promise<T>) => withinTime(work, answerTimeoutMs, giveUp);
  await within(connection.shakeHands());
  connection.command(0, ['connect', CONNECT, connectObject(app, `rtmp://${authority}/${app}`)]);
  await within(resultOf(connection, CONNECT));
  connection.command(0, ['createStream', CREATE_STREAM, null]);
  // Some networks fetch a live stream only for clients that subscribed to it.
  connection.command(0, ['FCSubscribe', 3, null, stream]);
  const [, streamId] = await within(resultOf(connection, CREATE_STREAM));
  if (typeof streamId !== 'number' || !Number.isInteger(streamId) || streamId < 0 || streamId > 0xffff_ffff) {
    throw new SourceError('unreadable');
  }
  connection.command(streamId, ['play', 0, null, stream, LIVE_ONLY]);
  connection.setBuffer(streamId, BUFFER_MS);
}

/** The stream as ffmpeg reads it, until the server ends it. @throws SourceError */
export async function* packedVideo(connection: RtmpConnection, budget: Budget): AsyncGenerator<Buffer, void> {
  const take = createFlvVideo((units) => budget.spend({ parts: units }));
  for await (const event of connection.events) {
    if (event.kind === 'video') yield* take(event.timestamp, event.body);
    else if (isEnd(event)) return;
  }
}

function connectObject(app: string, tcUrl: string): AmfObject {
  return new Map<string, AmfValue>([
    ['app', app],
    ['flashVer', 'LNX 9,0,124,2'],
    ['tcUrl', tcUrl],
    ['fpad', false],
    ['capabilities', 15],
    ['audioCodecs', 4071],
    ['videoCodecs', 252],
    ['videoFunction', 1],
    ['fourCcList', ['avc1', 'hvc1']],
  ]);
}

/** The values of the response to a call. No frames arrive before the stream is requested. */
async function resultOf(connection: RtmpConnection, transaction: number): Promise<AmfValue[]> {
  for (;;) {
    const { value: event } = await connection.events.next();
    if (!event) throw new SourceError('connection_failed');
    if (event.kind === 'video') continue;
    if (event.name === '_error' && event.transaction === transaction) throw new RtmpRefusal(infoOf(event));
    if (event.name === '_result' && event.transaction === transaction) return event.values;
    if (isEnd(event)) throw new SourceError('connection_failed');
  }
}

/** @throws SourceError when a status is an error */
function isEnd(event: Extract<RtmpEvent, { kind: 'command' }>): boolean {
  if (event.name === 'close') return true;
  if (event.name !== 'onStatus') return false;
  const info = infoOf(event);
  if (info.get('level') === 'error') throw new SourceError(reasonOfRefusal(info));
  const code = info.get('code');
  return typeof code === 'string' && ENDED.has(code);
}

function infoOf({ values }: Extract<RtmpEvent, { kind: 'command' }>): AmfObject {
  return values.findLast((value) => value instanceof Map) ?? new Map<string, AmfValue>();
}
