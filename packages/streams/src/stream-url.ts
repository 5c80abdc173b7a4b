import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { AddressError } from '@vision/shared/net/address-error';
import type { AddressPolicy, Endpoint } from '@vision/shared/net/address-policy';
import type { Credentials } from './digest-auth.ts';

type StreamScheme = 'http' | 'https' | 'rtsp' | 'rtmp';

/** A stream address in validated parts. Secret as a whole: keys hide in user names, passwords, paths and queries. */
export interface StreamUrl {
  scheme: StreamScheme;
  /** Lower case; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** Host and port as they stand in an address: IPv6 in brackets, the scheme's own port left out. */
  authority: string;
  /** Percent-decoded; empty when there is none. */
  user: string;
  password: string;
  /** Starts with `/`. */
  pathAndQuery: string;
  /** Built again from the parts; the only form that is passed on. */
  href: string;
  /** `rtsp://camera.example.org`: all that may be shown. */
  label: string;
}

/** What the rules say about a text alone. */
type TextRules = Pick<AddressPolicy, 'checkLiteral' | 'checkPort'>;

const defaultPorts: Record<StreamScheme, number> = { http: 80, https: 443, rtsp: 554, rtmp: 1935 };
const MAX_BYTES = 2048;

/**
 * Parses a stream address by one grammar for all schemes, stricter than WHATWG URL: parsers disagree about backslashes,
 * control characters, several `@`, odd IPv4 forms and percent signs in hosts, and a check of one reading does not
 * protect a reader with another. What is passed on is built again from the checked parts.
 * @throws AppError OP-TASK-REQUEST-INVALID `stream_url_invalid`; the message never holds any part of the address.
 */
export function parseStreamUrl(text: unknown, policy: TextRules): StreamUrl {
  if (typeof text !== 'string' || text === '') throw invalid('is required and must be a text that is not empty');
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalid(`may have ${MAX_BYTES} bytes at most`);
  if (/[^\x21-\x7e]/.test(text)) throw invalid('may hold printable ASCII only; encode everything else with %');
  if (/[\\#"<>^`{|}]/.test(text)) throw invalid('holds a character that has to be encoded with %');
  const [, scheme = '', authority = '', rest = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?]*)(.*)$/.exec(text) ?? [];
  if (!isScheme(scheme.toLowerCase())) throw invalid('must begin with http://, https://, rtsp:// or rtmp://');
  if (!percentIsWhole(text)) throw invalid('holds a % that is not followed by two hexadecimal digits');
  if (/%0[ad]|%00/i.test(text)) throw invalid('holds an encoded line break');
  return build(scheme.toLowerCase() as StreamScheme, splitAuthority(authority), rest, policy);
}

/** Undefined when the address names nobody. */
export function credentialsOf({ user, password }: StreamUrl): Credentials | undefined {
  return user === '' && password === '' ? undefined : { user, password };
}

interface Authority {
  user: string;
  password: string;
  host: string;
  port: string | undefined;
}

function build(
  scheme: StreamScheme,
  { user, password, host, port: portText }: Authority,
  rest: string,
  policy: TextRules,
): StreamUrl {
  const name = checkHost(host, policy);
  const port = portText === undefined ? defaultPorts[scheme] : Number(portText);
  if (portText !== undefined && (!/^\d{1,5}$/.test(portText) || port < 1 || port > 65535)) {
    throw invalid('has a port that is not 1 to 65535');
  }
  checkPort({ host: name, port }, policy);
  const pathAndQuery = rest.startsWith('/') ? rest : `/${rest}`;
  const shownHost = name.includes(':') ? `[${name}]` : name;
  const credentials = `${encode(user)}${password === '' ? '' : `:${encode(password)}`}@`.replace(/^@$/, '');
  const authority = port === defaultPorts[scheme] ? shownHost : `${shownHost}:${port}`;
  return {
    scheme,
    host: name,
    port,
    authority,
    user,
    password,
    pathAndQuery,
    href: `${scheme}://${credentials}${authority}${pathAndQuery}`,
    label: `${scheme}://${shownHost}`,
  };
}

function splitAuthority(authority: string): Authority {
  const at = authority.split('@');
  if (at.length > 2) throw invalid('holds an @ that has to be encoded as %40');
  const [hostAndPort = '', credentials = ''] = at.toReversed();
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(hostAndPort) ?? [];
  const [user = '', ...password] = credentials.split(':');
  return { user: decode(user), password: decode(password.join(':')), host, port };
}

function checkHost(host: string, policy: TextRules): string {
  const name = host.toLowerCase();
  if (name === '') throw invalid('names no host');
  if (name.startsWith('[')) return checkAddress(name, policy) ?? refuseHost();
  if (checkAddress(name, policy) !== undefined) return name;
  const labels = name.replace(/\.$/, '').split('.');
  const isName = name.length <= 253 && labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label));
  // A last label of digits or 0x… is read as a number by some resolvers: 2130706433, 127.1, 0x7f000001, 0177.0.0.1.
  if (!isName || /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return refuseHost();
  return name;
}

function checkAddress(host: string, policy: TextRules): string | undefined {
  if (host.includes('%')) return refuseHost();
  if (host.startsWith('[') && !/^\[[0-9a-f.]*:[0-9a-f:.]*\]$/.test(host)) return refuseHost();
  try {
    return policy.checkLiteral(host);
  } catch (error) {
    if (error instanceof AddressError) throw invalid('names an address that is not allowed');
    throw error;
  }
}

function checkPort(endpoint: Endpoint, policy: TextRules): void {
  try {
    policy.checkPort(endpoint);
  } catch (error) {
    if (error instanceof AddressError) throw invalid('names a port that is not allowed');
    throw error;
  }
}

function refuseHost(): never {
  throw invalid('has a host that is neither a name nor an IP address in its usual form');
}

function isScheme(scheme: string): scheme is StreamScheme {
  return Object.hasOwn(defaultPorts, scheme);
}

const percentIsWhole = (text: string) => !/%(?![0-9a-fA-F]{2})/.test(text);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('has user information that is not encoded UTF-8');
  }
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function invalid(what: string): AppError {
  return fail.requestInvalid('stream_url_invalid', `The stream_url ${what}.`, { field: 'stream_url' });
}
