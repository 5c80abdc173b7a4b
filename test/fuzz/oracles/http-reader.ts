import common from 'node:_http_common';

const { HTTPParser } = common;
const MAX_HEADER_BYTES = 65_536;
// One for all messages: thousands in a second fill the memory before it is given back.
const parser = new HTTPParser();

/** A message as the HTTP parser of Node.js reads it. */
export interface HttpMessage {
  /** Undefined for a request. */
  status: number | undefined;
  headers: [string, string][];
  body: Buffer;
}

/** Reads messages that follow each other on one connection, up to the first that is no HTTP or not whole. */
export function readHttp(kind: 'requests' | 'responses', bytes: Buffer): HttpMessage[] {
  const messages: HttpMessage[] = [];
  // Headers come in parts when there are many.
  let flat: string[] = [];
  let status: number | undefined;
  let body: Buffer[] = [];
  parser.initialize(kind === 'requests' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, MAX_HEADER_BYTES);
  parser[HTTPParser.kOnHeaders] = (headers: string[]) => void flat.push(...headers);
  const onHead = (...[, , headers, , , code]: [number, number, string[] | undefined, unknown, unknown, number?]) => {
    flat.push(...(headers ?? []));
    status = code;
    // The body is not skipped, as after HEAD.
    return 0;
  };
  parser[HTTPParser.kOnHeadersComplete] = onHead;
  parser[HTTPParser.kOnBody] = (part: Buffer) => void body.push(Buffer.from(part));
  parser[HTTPParser.kOnMessageComplete] = () => {
    messages.push({ status, headers: pairsOf(flat), body: Buffer.concat(body) });
    [flat, body, status] = [[], [], undefined];
  };
  parser.execute(bytes);
  return messages;
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const names = flat.filter((_, at) => at % 2 === 0);
  return names.map((name, index) => [name, flat[2 * index + 1] ?? '']);
}
