/** One message of an RTSP connection (RFC 2326): a request, a response, or an interleaved packet passed on as it is. */
export type RtspPart =
  { kind: 'packet'; bytes: Buffer } | { kind: 'message'; startLine: string; headers: [string, string][]; body: Buffer };

export type RtspMessage = Extract<RtspPart, { kind: 'message' }>;

const MAX_HEAD = 16_384;
const MAX_BODY = 65_536;

/**
 * Cuts a byte stream into parts, in order.
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

export function headerOf(message: RtspMessage, name: string): string | undefined {
  return message.headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

export function headersOf(message: RtspMessage, name: string): string[] {
  return message.headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

export function formatMessage(startLine: string, headers: readonly [string, string][], body: Buffer): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`, 'latin1'), body]);
}

function cut(bytes: Buffer): { part: RtspPart; size: number } | undefined {
  if (bytes.length < 4) return undefined;
  if (bytes[0] === 0x24) {
    const size = 4 + bytes.readUInt16BE(2);
    return bytes.length < size ? undefined : { part: { kind: 'packet', bytes: bytes.subarray(0, size) }, size };
  }
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0 || headEnd > MAX_HEAD) {
    if (bytes.length > MAX_HEAD || !/^[A-Z]/.test(bytes.toString('latin1', 0, 1))) throw new Error('no RTSP');
    return undefined;
  }
  const [startLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()];
  });
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0);
  if (!Number.isInteger(length) || length < 0 || length > MAX_BODY) throw new Error('no RTSP');
  const size = headEnd + 4 + length;
  if (bytes.length < size) return undefined;
  return { part: { kind: 'message', startLine, headers, body: Buffer.from(bytes.subarray(headEnd + 4, size)) }, size };
}
