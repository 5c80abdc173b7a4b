import { AddressError } from './address-error.ts';
import type { AddressPolicy, Endpoint } from './address-policy.ts';

/** An address in validated parts. It may hold secrets in every part but the label. */
export interface StrictUrl<Scheme extends string> {
  scheme: Scheme;
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
export type TextRules = Pick<AddressPolicy, 'checkLiteral' | 'checkPort'>;

export interface UrlRules<Scheme extends string> {
  /** The port of each scheme that is accepted. */
  defaultPorts: Record<Scheme, number>;
  policy: TextRules;
  /** The error of an address that is refused; the words, which follow its name, hold no part of it. */
  refuse: (words: string) => Error;
}

const MAX_BYTES = 2048;

/**
 * Parses an address by one grammar for all schemes, stricter than WHATWG URL: parsers disagree about backslashes,
 * control characters, several `@`, odd IPv4 forms and percent signs in hosts, and a check of one reading does not
 * protect a reader with another. What is passed on is built again from the checked parts.
 * @throws the error of `refuse`.
 */
export function parseStrictUrl<Scheme extends string>(text: unknown, rules: UrlRules<Scheme>): StrictUrl<Scheme> {
  const { defaultPorts, refuse } = rules;
  if (typeof text !== 'string' || text === '') throw refuse('is required and must be a text that is not empty');
  if (Buffer.byteLength(text) > MAX_BYTES) throw refuse(`may have ${MAX_BYTES} bytes at most`);
  if (/[^\x21-\x7e]/.test(text)) throw refuse('may hold printable ASCII only; encode everything else with %');
  if (/[\\#"<>^`{|}]/.test(text)) throw refuse('holds a character that has to be encoded with %');
  const [, written = '', authority = '', rest = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?]*)(.*)$/.exec(text) ?? [];
  const scheme = written.toLowerCase();
  if (!isOneOf(defaultPorts, scheme)) throw refuse(`must begin with ${beginnings(Object.keys(defaultPorts))}`);
  if (!percentIsWhole(text)) throw refuse('holds a % that is not followed by two hexadecimal digits');
  if (/%0[ad]|%00/i.test(text)) throw refuse('holds an encoded line break');
  return build(scheme, splitAuthority(authority, refuse), rest, rules);
}

const beginnings = (schemes: string[]) =>
  schemes
    .map((scheme) => `${scheme}://`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');

type Refuse = UrlRules<never>['refuse'];
type HostRules = Pick<UrlRules<never>, 'policy' | 'refuse'>;

interface Authority {
  user: string;
  password: string;
  host: string;
  port: string | undefined;
}

function build<Scheme extends string>(
  scheme: Scheme,
  { user, password, host, port: portText }: Authority,
  rest: string,
  rules: UrlRules<Scheme>,
): StrictUrl<Scheme> {
  const { defaultPorts, refuse } = rules;
  const name = checkHost(host, rules);
  const port = portText === undefined ? defaultPorts[scheme] : Number(portText);
  if (portText !== undefined && (!/^\d{1,5}$/.test(portText) || port < 1 || port > 65535)) {
    throw refuse('has a port that is not 1 to 65535');
  }
  checkPort({ host: name, port }, rules);
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

function splitAuthority(authority: string, refuse: Refuse): Authority {
  const at = authority.split('@');
  if (at.length > 2) throw refuse('holds an @ that has to be encoded as %40');
  const [hostAndPort = '', credentials = ''] = at.toReversed();
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(hostAndPort) ?? [];
  const [user = '', ...password] = credentials.split(':');
  return { user: decode(user, refuse), password: decode(password.join(':'), refuse), host, port };
}

function checkHost(host: string, rules: HostRules): string {
  const name = host.toLowerCase();
  if (name === '') throw rules.refuse('names no host');
  if (name.startsWith('[')) return checkAddress(name, rules) ?? refuseHost(rules);
  if (checkAddress(name, rules) !== undefined) return name;
  const labels = name.replace(/\.$/, '').split('.');
  const isName = name.length <= 253 && labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label));
  // A last label of digits or 0x… is read as a number by some resolvers: 2130706433, 127.1, 0x7f000001, 0177.0.0.1.
  if (!isName || /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return refuseHost(rules);
  return name;
}

function checkAddress(host: string, rules: HostRules): string | undefined {
  if (host.includes('%')) return refuseHost(rules);
  if (host.startsWith('[') && !/^\[[0-9a-f.]*:[0-9a-f:.]*\]$/.test(host)) return refuseHost(rules);
  try {
    return rules.policy.checkLiteral(host);
  } catch (error) {
    if (error instanceof AddressError) throw rules.refuse('names an address that is not allowed');
    throw error;
  }
}

function checkPort(endpoint: Endpoint, { policy, refuse }: HostRules): void {
  try {
    policy.checkPort(endpoint);
  } catch (error) {
    if (error instanceof AddressError) throw refuse('names a port that is not allowed');
    throw error;
  }
}

function refuseHost({ refuse }: HostRules): never {
  throw refuse('has a host that is neither a name nor an IP address in its usual form');
}

function isOneOf<Scheme extends string>(ports: Record<Scheme, number>, scheme: string): scheme is Scheme {
  return Object.hasOwn(ports, scheme);
}

const percentIsWhole = (text: string) => !/%(?![0-9a-fA-F]{2})/.test(text);

function decode(text: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse('has user information that is not encoded UTF-8');
  }
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
