/** One message of an RTSP connection (RFC 2326): a request, a response, or an interleaved packet passed on as it is. */
export type RtspPart = RtspPacket | RtspMessage;

export interface RtspPacket {
  kind: 'packet';
  channel: number;
  /** With the four bytes that frame it. */
  bytes: Buffer;
}

export interface RtspMessage {
  kind: 'message';
  startLine: string;
  headers: [string, string][];
  body: Buffer;
}

const MAX_HEAD = 16_384;
const MAX_BODY = 65_536;
const MAX_HEADERS = 64;
const MAX_LINE = 4096;

const RESPONSE = /^RTSP\/1\.0 [1-5]\d\d(?: [\x20-\x7e\x80-\xff]*)?$/;
const WITHOUT_BODY = /^RTSP\/1\.0 (?:1\d\d|204|304)/;
const REQUEST = /^[A-Z][A-Z_]{0,31} [\x21-\x7e]+ RTSP\/1\.0$/;
const HEADER = /^([!#$%&'*+.^_`|~\w-]{1,64}):[ ]*([\x20-\x7e\x80-\xff]*)$/;

/**
 * Splits a byte stream into parts, in order. Only one form of a message is accepted; any other ends the connection:
 * lines end with CR LF and hold no other control character, a start line has its exact form, a length is one number in
 * digits. Two readers must never disagree on where a message ends.
 *
 * @throws Error when what comes is no RTSP or larger than any description
 */
export function createRtspReader(): (chunk: Buffer) => RtspPart[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const parts: RtspPart[] = [];
    for (let next = cut(rest); next !== undefined; next = cut(rest)) {
      parts.push(next.part);
      rest = rest.subarray(next.size);
    }
    return parts;
  };
}

/** The status of a response; undefined for a request. */
export function statusOf({ startLine }: RtspMessage): number | undefined {
  return startLine.startsWith('RTSP/') ? Number(startLine.slice(9, 12)) : undefined;
}

export function headerOf(message: RtspMessage, name: string): string | undefined {
  return message.headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

export function headersOf(message: RtspMessage, name: string): string[] {
  return message.headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

export function formatMessage(
  startLine: string,
  headers: readonly [string, string][],
  body: Buffer = Buffer.alloc(0),
): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

function cut(bytes: Buffer): { part: RtspPart; size: number } | undefined {
  if (bytes.length === 0) return undefined;
  return bytes[0] === 0x24 ? cutPacket(bytes) : cutMessage(bytes);
}

function cutPacket(bytes: Buffer): { part: RtspPacket; size: number } | undefined {
  if (bytes.length < 4) return undefined;
  const size = 4 + bytes.readUInt16BE(2);
  if (bytes.length < size) return undefined;
  return { part: { kind: 'packet', channel: bytes[1] ?? 0, bytes: bytes.subarray(0, size) }, size };
}

function cutMessage(bytes: Buffer): { part: RtspMessage; size: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, headEnd < 0 ? MAX_HEAD + 1 : headEnd);
  if (head.length > MAX_HEAD || !/^[A-Z]/.test(head)) throw noRtsp();
  const [startLine = '', ...lines] = head.split('\r\n', MAX_HEADERS + 2);
  // A peer that speaks something else may never send the end of a head.
  if (/(?:^|[^\r])\n/.test(head) || (lines.length > 0 && !isStartLine(startLine))) throw noRtsp();
  if (headEnd < 0) return undefined;
  if (!isStartLine(startLine)) throw noRtsp();
  if (lines.length > MAX_HEADERS) throw noRtsp();
  const headers = lines.map(readHeader);
  const [length = '0', ...others] = headers.filter(([name]) => name.toLowerCase() === 'content-length').map(valueOf);
  if (others.length > 0 || !/^\d{1,5}$/.test(length) || Number(length) > MAX_BODY) throw noRtsp();
  // These never have a body, despite a length (RFC 2326, 4.4): readers that use the length find another end.
  if (WITHOUT_BODY.test(startLine) && Number(length) > 0) throw noRtsp();
  const size = headEnd + 4 + Number(length);
  if (bytes.length < size) return undefined;
  const body = Buffer.from(bytes.subarray(headEnd + 4, size));
  return { part: { kind: 'message', startLine, headers, body }, size };
}

function isStartLine(line: string): boolean {
  return line.length <= MAX_LINE && (RESPONSE.test(line) || REQUEST.test(line));
}

function readHeader(line: string): [string, string] {
  const [, name, value] = (line.length > MAX_LINE ? undefined : HEADER.exec(line)) ?? [];
  if (name === undefined || value === undefined) throw noRtsp();
  return [name, withoutBlanks(value)];
}

/** A no-break space is a byte of the value, for which `trimEnd` does not take it. */
function withoutBlanks(value: string): string {
  let end = value.length;
  while (value[end - 1] === ' ') end -= 1;
  return value.slice(0, end);
}

const valueOf = ([, value]: [string, string]) => value;

function noRtsp(): Error {
  return new Error('no RTSP');
}
