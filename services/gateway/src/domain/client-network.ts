import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whether the X-Forwarded-For of an address is trusted. */
export type IsTrusted = (address: string) => boolean;

const NAMED_RANGES: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Parses the proxies whose X-Forwarded-For is trusted: addresses, CIDRs, or names of ranges.
 * @throws Error that names an invalid entry.
 */
export function parseTrusted(entries: readonly string[]): IsTrusted {
  const ranges = entries.flatMap((entry) => NAMED_RANGES[entry] ?? [entry]).map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && ranges.some(([base, bits]) => isWithin(address, base, bits));
  };
}

/**
 * The network that a request counts for: that of the nearest address that is no trusted proxy, from the peer leftwards
 * through X-Forwarded-For. Text that is no address ends the search, so the request counts for the proxy that sent it.
 */
export function clientNetwork(
  { peer, forwardedFor }: { peer: string | undefined; forwardedFor: string | undefined },
  isTrusted: IsTrusted,
): string {
  let nearest = peer ?? '';
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    const address = isTrusted(nearest) ? parseAddress(hop) : undefined;
    if (!address) break;
    nearest = address.toString();
  }
  return networkOf(nearest);
}

/** One holder has a whole /64 of IPv6 addresses, but a single one of IPv4, however it is written. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (!address) return 'unknown';
  if (address instanceof ipaddr.IPv4) return address.toString();
  const prefix = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

/**
 * Parses `a`, `a:port`, `[a]` and `[a]:port`, as proxies write them; extracts an IPv4 address from a mapped IPv6 one.
 */
function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ?? trimmed.replace(/^([\d.]+):\d{1,5}$/, '$1');
  const withoutZone = bare.replace(/%.*$/, '');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(withoutZone) || ipaddr.IPv6.isValid(withoutZone);
  return isAddress ? ipaddr.process(withoutZone) : undefined;
}

function parseRange(text: string): [Address, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parseAddress(text);
  if (!address) throw new Error(`not an address, a CIDR or one of ${Object.keys(NAMED_RANGES).join(', ')}: ${text}`);
  return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
}

function isWithin(address: Address, base: Address, bits: number): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}
