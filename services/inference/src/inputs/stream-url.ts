import { SourceError } from './source-error.ts';

type StreamScheme = 'http' | 'https' | 'rtsp' | 'rtmp';

const PORTS: Record<StreamScheme, number> = { http: 80, https: 443, rtsp: 554, rtmp: 1935 };

/** An address of a stream, taken apart. Holds secrets in several places; only scheme and host may be shown. */
export interface StreamUrl {
  scheme: StreamScheme;
  /** Without brackets. */
  host: string;
  port: number;
  /** `host:port`, the port only where the scheme's own is not meant. */
  authority: string;
  /** Decoded; undefined when the address has no user information. */
  credentials: { user: string; password: string } | undefined;
  /** Path and query as given, beginning with a slash. */
  path: string;
}

/** @throws SourceError `address_forbidden` for what is no absolute http, https, rtsp or rtmp address. */
export function parseStreamUrl(text: string): StreamUrl {
  const url = isPlain(text) ? URL.parse(text) : null;
  const scheme = url?.protocol.slice(0, -1);
  if (!url || !isScheme(scheme) || url.hostname === '' || url.port === '0') throw new SourceError('address_forbidden');
  const port = url.port === '' ? PORTS[scheme] : Number(url.port);
  const hasUser = url.username !== '' || url.password !== '';
  return {
    scheme,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase(),
    port,
    authority: port === PORTS[scheme] ? url.hostname : `${url.hostname}:${port}`,
    credentials: hasUser ? { user: decode(url.username), password: decode(url.password) } : undefined,
    path: `${url.pathname || '/'}${url.search}`,
  };
}

/** Printable ASCII without backslashes, quotes and spaces: what every parser behind this one reads alike. */
function isPlain(text: string): boolean {
  return /^[\x21\x23-\x26\x28-\x5b\x5d-\x7e]{1,2048}$/.test(text);
}

function isScheme(scheme: string | undefined): scheme is StreamScheme {
  return scheme !== undefined && Object.hasOwn(PORTS, scheme);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
