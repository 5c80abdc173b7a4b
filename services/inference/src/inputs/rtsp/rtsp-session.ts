import { SourceError } from '@vision/streams/source-error';
import { reasonOfStatus } from '../status-reason.ts';
import type { RtspConnection } from '@vision/streams/rtsp-connection';
import { headerOf, statusOf } from '@vision/streams/rtsp-message';
import type { RtspMessage } from '@vision/streams/rtsp-message';
import { readDescription } from './sdp.ts';
import type { VideoDescription } from './sdp.ts';

/** A playing stream. */
export interface RtspSession {
  description: VideoDescription;
  /** The interleaved channels of the track and of its control packets. */
  channels: { video: number; control: number };
  /** Interval of keep-alive requests that the server expects. */
  keepAliveMs: number;
  keepAlive: () => void;
  /** Tells the server that the client leaves. */
  leave: () => void;
}

const DEFAULT_TIMEOUT_S = 60;
const TRANSPORT = 'RTP/AVP/TCP;unicast;interleaved=0-1';

/**
 * Requests the first video track over the connection itself (RFC 2326, interleaved). Every address in a request is
 * built from `authority` and a path: hosts in Content-Base, control attributes, Transport and RTP-Info are ignored.
 *
 * @throws SourceError
 */
export async function startSession(
  connection: RtspConnection,
  { authority, pathAndQuery }: { authority: string; pathAndQuery: string },
): Promise<RtspSession> {
  const at = (path: string) => `rtsp://${authority}${path}`;
  // Servers without OPTIONS answer with an error, which is no fault of the stream.
  const options = await connection.request('OPTIONS', at(pathAndQuery));
  const described = needed(await connection.request('DESCRIBE', at(pathAndQuery), [['Accept', 'application/sdp']]));
  const base = headerOf(described, 'content-base') ?? headerOf(described, 'content-location') ?? '';
  const root = pathOf(base) ?? pathAndQuery;
  const description = readDescription(described.body);
  const track = at(pathOfControl(root, description.trackControl));
  const setUp = needed(await connection.request('SETUP', track, [['Transport', TRANSPORT]]));
  const channels = readTransport(headerOf(setUp, 'transport') ?? '');
  const { id, timeoutS } = readSession(headerOf(setUp, 'session'));
  const session: [string, string][] = id === undefined ? [] : [['Session', id]];
  const whole = at(pathOfStream(root, description.streamControl));
  needed(await connection.request('PLAY', whole, [...session, ['Range', 'npt=0.000-']]));
  const isKnown = /(^|[ ,])GET_PARAMETER([ ,]|$)/.test(headerOf(options, 'public') ?? '');
  return {
    description,
    channels,
    keepAliveMs: Math.min(30, Math.max(2, timeoutS / 2)) * 1000,
    keepAlive: () => connection.post(isKnown ? 'GET_PARAMETER' : 'OPTIONS', whole, session),
    leave: () => connection.post('TEARDOWN', whole, session),
  };
}

/** @throws SourceError with the reason of an unsuccessful response */
function needed(answer: RtspMessage): RtspMessage {
  const status = statusOf(answer) ?? 0;
  const reason = reasonOfStatus(status);
  if (reason !== undefined) throw new SourceError(reason);
  if (status !== 200) throw new SourceError('unreadable');
  return answer;
}

/** Path and query of an absolute address; undefined for everything else. */
function pathOf(address: string): string | undefined {
  const [, rest] = /^rtsp:\/\/[^/?]*([/?][\x21-\x7e]*|)$/i.exec(address.length > 2048 ? '' : address) ?? [];
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`;
}

/** Appends relative names to the address, even after a query, as cameras expect. */
function pathOfControl(root: string, control: string | undefined): string {
  if (control === undefined || control === '*' || control === '') return root;
  if (/^[a-z]+:\/\//i.test(control)) return pathOf(control) ?? unreadable();
  if (control.length > 1024 || !/^[\x21-\x7e]+$/.test(control)) return unreadable();
  return `${root.replace(/\/$/, '')}/${control.replace(/^\//, '')}`;
}

/** The target of PLAY: the whole stream, which many descriptions name `*` or not at all. */
function pathOfStream(root: string, control: string | undefined): string {
  return (control === undefined ? undefined : pathOf(control)) ?? root;
}

function readTransport(transport: string): RtspSession['channels'] {
  if (!/^RTP\/AVP\/TCP(;|$)/i.test(transport) || transport.includes(',')) return unreadable();
  const [, video = '0', control = `${Number(video) + 1}`] =
    /;interleaved=(\d{1,3})(?:-(\d{1,3}))?(?:;|$)/i.exec(transport) ?? [];
  if (Number(video) > 255 || Number(control) > 255) return unreadable();
  return { video: Number(video), control: Number(control) };
}

function readSession(text: string | undefined): { id: string | undefined; timeoutS: number } {
  if (text === undefined) return { id: undefined, timeoutS: DEFAULT_TIMEOUT_S };
  const [, id, timeout = `${DEFAULT_TIMEOUT_S}`] =
    /^([\x21-\x3a\x3c-\x7e]{1,256})(?: *; *timeout=(\d{1,9}))?(?: *;.*)?$/i.exec(text) ?? [];
  return { id: id ?? unreadable(), timeoutS: Number(timeout) };
}

function unreadable(): never {
  throw new SourceError('unreadable');
}
