import { createHash, createHmac } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestS3 } from '../../src/testing/s3.ts';

export interface SessionKeys {
  accessKey: string;
  secretKey: string;
  sessionToken: string;
}

export interface SessionS3 {
  endpoint: string;
  /** Keys that are accepted, by their access key. */
  sessions: Map<string, SessionKeys>;
  /** Session tokens of the requests that were accepted. */
  seen: string[];
  stop: () => void;
}

/**
 * The S3 program of the tests knows one pair of keys and no sessions. This stands before it: it checks that a request
 * is signed with the keys and the token of a session, and passes it on signed anew.
 */
export async function startSessionS3(s3: TestS3): Promise<SessionS3> {
  const sessions = new Map<string, SessionKeys>();
  const seen: string[] = [];
  const server = createServer((req, res) => {
    const session = sessionOf(req, sessions);
    if (!session) {
      res.writeHead(403, { 'Content-Type': 'text/xml' }).end('<Error><Code>InvalidAccessKeyId</Code></Error>');
      return;
    }
    seen.push(session.sessionToken);
    forward(req, res, s3);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { endpoint: addressOf(server), sessions, seen, stop: () => server.close() };
}

export const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const AUTHORIZATION = /Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)/;

function sessionOf(req: IncomingMessage, sessions: Map<string, SessionKeys>): SessionKeys | undefined {
  const [, accessKey = '', day = '', region = '', names = '', signature] =
    AUTHORIZATION.exec(req.headers.authorization ?? '') ?? [];
  const session = sessions.get(accessKey);
  if (!session || req.headers['x-amz-security-token'] !== session.sessionToken) return undefined;
  if (!names.split(';').includes('x-amz-security-token')) return undefined;
  const expected = sign(req, req.headers, { day, region, names: names.split(';'), secretKey: session.secretKey });
  return expected === signature ? session : undefined;
}

function forward(req: IncomingMessage, res: ServerResponse, s3: TestS3): void {
  const target = new URL(s3.endpoint);
  const { authorization: _theirs, 'x-amz-security-token': _token, connection: _connection, ...rest } = req.headers;
  const headers: IncomingHttpHeaders = { ...rest, host: target.host };
  const day = String(headers['x-amz-date']).slice(0, 8);
  const names = ['host', 'x-amz-content-sha256', 'x-amz-date'];
  const signature = sign(req, headers, { day, region: s3.region, names, secretKey: s3.secretKey });
  headers.authorization =
    `AWS4-HMAC-SHA256 Credential=${s3.accessKey}/${day}/${s3.region}/s3/aws4_request, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  const onward = request(
    { host: target.hostname, port: target.port, method: req.method, path: req.url, headers },
    (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(res);
    },
  );
  onward.on('error', () => res.destroy());
  req.pipe(onward);
}

interface Signing {
  day: string;
  region: string;
  names: string[];
  secretKey: string;
}

/** Signature version 4 of a request whose payload is named by its header. */
function sign({ method, url = '' }: IncomingMessage, headers: IncomingHttpHeaders, signing: Signing): string {
  const { day, region, names, secretKey } = signing;
  const [path = '', query = ''] = url.split('?');
  const pairs = query.split('&').filter(Boolean);
  const canonical = [
    method,
    path,
    pairs
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .toSorted()
      .join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, digest].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${secretKey}`,
  );
  return createHmac('sha256', key).update(text).digest('hex');
}
