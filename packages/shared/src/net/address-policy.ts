import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AddressError } from './address-error.ts';
import { createLookup } from './name-lookup.ts';
import type { Lookup, LookupOptions } from './name-lookup.ts';
import { DEFAULT_STREAM_PORTS, readPorts } from './stream-ports.ts';
import type { PortRule } from './stream-ports.ts';

/** Where to connect to, as a stream address names it. */
export interface Endpoint {
  /** A name or an IP address. */
  host: string;
  port: number;
}

export interface AddressPolicy {
  /** Whether a connection to this IP address (text form, no brackets) is allowed. */
  allows: (address: string) => boolean;
  /**
   * Checks a host that is an address by itself, or a name for this machine (`localhost`, `*.localhost`).
   * @returns the address in canonical form, or undefined when the host is a name that has to be resolved.
   * @throws AddressError `address_forbidden`.
   */
  checkLiteral: (host: string) => string | undefined;
  /**
   * Checks a port as far as the text tells: of a name that may lead into one of the exceptions it tells nothing.
   * @throws AddressError `port_forbidden`.
   */
  checkPort: (endpoint: Endpoint) => void;
  /**
   * Turns an endpoint into the one IP address to connect to. Every address of the name must be allowed, so that no
   * later choice between them can lead to a forbidden one. IPv4 is preferred. Once it is given up, nothing is left.
   * @throws AddressError. @throws the reason of the signal.
   */
  resolvePinned: (endpoint: Endpoint, options: LookupOptions) => Promise<string>;
}

export interface AddressPolicyOptions {
  /** Ports that may be named outside of the exceptions. */
  isAllowedPort?: PortRule;
  /** How names are looked up; by the name servers of the system without it. */
  lookup?: Lookup;
}

/**
 * The one rule for addresses that callers name: public unicast only, and only ports that streams come from. An IPv4
 * address inside an IPv6 one (mapped, 6to4, NAT64, Teredo) is not taken out of it: the range of the IPv6 address
 * refuses it. Ranges are those of ipaddr.js 2.5 (IANA special purpose registries). `allowedCidrs` are the operator's
 * exceptions, on any port, e.g. `127.0.0.0/8` for cameras simulated on one machine.
 * @throws Error when an exception is no CIDR.
 */
export function createAddressPolicy(
  allowedCidrs: readonly string[] = [],
  { isAllowedPort = usualPorts, lookup = createLookup() }: AddressPolicyOptions = {},
): AddressPolicy {
  const exceptions = allowedCidrs.map(parseCidr);
  const allows = (address: string) => isAllowed(address, exceptions);
  const isReachable = (address: string, port: number) => isAllowedPort(port) || isException(address, exceptions);
  const checkLiteral = (host: string) => {
    const address = literalOf(host);
    if (address === undefined) return undefined;
    if (!allows(address)) throw new AddressError('address_forbidden');
    return ipaddr.parse(address).toString();
  };
  const checkPort = ({ host, port }: Endpoint) => {
    const address = literalOf(host);
    // A name may lead into any of the exceptions.
    const mayBeException = address === undefined ? exceptions.length > 0 : isException(address, exceptions);
    if (!isAllowedPort(port) && !mayBeException) throw new AddressError('port_forbidden');
  };
  return {
    allows,
    checkLiteral,
    checkPort,
    async resolvePinned({ host, port }, options) {
      const literal = checkLiteral(host);
      const addresses = literal === undefined ? await lookup(host, options) : [literal];
      if (addresses.length === 0) throw new AddressError('name_unknown');
      if (!addresses.every(allows)) throw new AddressError('address_forbidden');
      if (!addresses.every((address) => isReachable(address, port))) throw new AddressError('port_forbidden');
      return addresses.find((address) => isIP(address) === 4) ?? (addresses[0] as string);
    },
  };
}

const usualPorts = readPorts(DEFAULT_STREAM_PORTS.split(','));

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Unicast by range, yet inside the provider's network: the virtual host of Azure, reachable from every machine there.
 */
const deniedUnicast: Cidr[] = ['168.63.129.16/32'].map(parseCidr);

/**
 * Globally routable ranges of IPv6. The old spelling of IPv4 addresses (`::/96`) and ranges that have no
 * purpose yet would count as unicast too.
 */
const globalUnicast: Cidr = parseCidr('2000::/3');

function isAllowed(text: string, exceptions: Cidr[]): boolean {
  // `isIP` takes strict dotted quads only; ipaddr.js would read 010.0.0.1 as octal. Zones (fe80::1%eth0)
  // name an interface.
  if (isIP(text) === 0 || text.includes('%')) return false;
  if (isException(text, exceptions)) return true;
  const address = ipaddr.parse(text);
  if (deniedUnicast.some((cidr) => matches(address, cidr))) return false;
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || matches(address, globalUnicast));
}

/** Whether an IP address lies in a network of the operator's choice. */
function isException(address: string, exceptions: Cidr[]): boolean {
  return exceptions.some((cidr) => matches(ipaddr.process(address), cidr));
}

function matches(address: ipaddr.IPv4 | ipaddr.IPv6, cidr: Cidr): boolean {
  return address.kind() === cidr[0].kind() && address.match(cidr);
}

function parseCidr(text: string): Cidr {
  if (!ipaddr.isValidCIDR(text)) throw new Error(`not a CIDR: ${text}`);
  return ipaddr.parseCIDR(text);
}

/** The IP address that a host is or stands for; undefined when it is a name that has to be resolved. */
function literalOf(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  const address = isLocalName(bare) ? '127.0.0.1' : bare;
  return isIP(address) === 0 ? undefined : address;
}

function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}
