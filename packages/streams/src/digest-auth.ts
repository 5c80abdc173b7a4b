import { createHash, randomBytes } from 'node:crypto';

export interface Credentials {
  user: string;
  password: string;
}

/**
 * The value of `Authorization` that answers a `WWW-Authenticate` challenge (Basic, RFC 7617; Digest with MD5 or
 * SHA-256, RFC 7616 and 2069, as RTSP 1.0 uses it too). Digest is preferred when both are offered.
 *
 * @param challenges values of all `WWW-Authenticate` headers
 * @returns undefined when no challenge can be answered
 */
export function answerChallenge(
  challenges: readonly string[],
  { user, password }: Credentials,
  request: { method: string; uri: string },
): string | undefined {
  const digest = challenges.find((challenge) => /^digest\s/i.test(challenge));
  if (digest === undefined) {
    const isBasic = challenges.some((challenge) => /^basic\b/i.test(challenge));
    return isBasic ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined;
  }
  const { realm = '', nonce = '', opaque, qop, algorithm } = parameters(digest);
  const hash = hashOf(algorithm);
  if (!hash) return undefined;
  const ha1 = hash(`${user}:${realm}:${password}`);
  const ha2 = hash(`${request.method}:${request.uri}`);
  const cnonce = randomBytes(8).toString('hex');
  const hasQop = qop?.split(',').some((value) => value.trim() === 'auth') ?? false;
  const response = hash(hasQop ? `${ha1}:${nonce}:00000001:${cnonce}:auth:${ha2}` : `${ha1}:${nonce}:${ha2}`);
  const fields = [
    quoted('username', user),
    quoted('realm', realm),
    quoted('nonce', nonce),
    quoted('uri', request.uri),
    quoted('response', response),
    opaque === undefined ? '' : quoted('opaque', opaque),
    algorithm === undefined ? '' : `algorithm=${algorithm}`,
    ...(hasQop ? ['qop=auth', 'nc=00000001', quoted('cnonce', cnonce)] : []),
  ];
  return `Digest ${fields.filter((field) => field !== '').join(', ')}`;
}

function parameters(challenge: string): Record<string, string | undefined> {
  const found: Record<string, string> = {};
  for (const [, name = '', text, token] of challenge.matchAll(/(\w+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))/g)) {
    found[name.toLowerCase()] = text ?? token ?? '';
  }
  return found;
}

function hashOf(algorithm = 'MD5'): ((text: string) => string) | undefined {
  const name = { MD5: 'md5', 'SHA-256': 'sha256' }[algorithm.toUpperCase()];
  return name === undefined ? undefined : (text) => createHash(name).update(text).digest('hex');
}

function quoted(name: string, value: string): string {
  return `${name}="${value.replaceAll(/["\\\x00-\x1f\x7f]/g, '')}"`;
}
