import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { unlessAborted } from '../async/unless-aborted.ts';

/** Why an address may not be connected to, or could not be found. */
export type AddressFault = 'address_forbidden' | 'name_unknown' | 'resolve_timeout';

/** A host that may not be reached or does not exist; the message holds no host name. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly fault: AddressFault;

  constructor(fault: AddressFault, cause?: unknown) {
    super(`host refused: ${fault}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

/** Finds every address of a name; `dns.promises.lookup` with `all` in production. */
export type Lookup = (host: string) => Promise<string[]>;

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
   * Turns a host into the one address to connect to. Every address of the name must be allowed, so that no later choice
   * between them can lead to a forbidden one. IPv4 is preferred.
   * @throws AddressError.
   */
  resolvePinned: (host: string, options: { deadlineMs: number; lookup?: Lookup | undefined }) => Promise<string>;
}

/**
 * The one rule for addresses that callers name: public unicast only. An IPv4 address inside an IPv6 one (mapped, 6to4,
 * NAT64, Teredo) is not taken out of it: the range of the IPv6 address refuses it. Ranges are those of ipaddr.js 2.5
 * (IANA special purpose registries). `allowedCidrs` are the operator's exceptions, e.g. `127.0.0.0/8` for cameras
 * simulated on one machine.
 * @throws Error when an exception is no CIDR.
 */
export function createAddressPolicy(allowedCidrs: readonly string[] = []): AddressPolicy {
  const exceptions = allowedCidrs.map(parseCidr);
  const allows = (address: string) => isAllowed(address, exceptions);
  const checkLiteral = (host: string) => {
    const bare = unbracket(host);
    const address = isLocalName(bare) ? '127.0.0.1' : bare;
    if (isIP(address) === 0) return undefined;
    if (!allows(address)) throw new AddressError('address_forbidden');
    return ipaddr.parse(address).toString();
  };
  return {
    allows,
    checkLiteral,
    async resolvePinned(host, { deadlineMs, lookup = lookupAll }) {
      const literal = checkLiteral(host);
      if (literal !== undefined) return literal;
      const addresses = await withDeadline(lookup(host), deadlineMs);
      if (addresses.length === 0) throw new AddressError('name_unknown');
      if (!addresses.every(allows)) throw new AddressError('address_forbidden');
      return addresses.find((address) => isIP(address) === 4) ?? (addresses[0] as string);
    },
  };
}

type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Unicast by range, yet inside the provider's network: the virtual host of Azure, reachable from every machine there.
 */
const deniedUnicast: Cidr[] = ['168.63.129.16/32'].map(parseCidr);

function isAllowed(text: string, exceptions: Cidr[]): boolean {
  // `isIP` takes strict dotted quads only; ipaddr.js would read 010.0.0.1 as octal. Zones (fe80::1%eth0)
  // name an interface.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (exceptions.some((cidr) => matches(ipaddr.process(text), cidr))) return true;
  if (deniedUnicast.some((cidr) => matches(address, cidr))) return false;
  return address.range() === 'unicast';
}

function matches(address: ipaddr.IPv4 | ipaddr.IPv6, cidr: Cidr): boolean {
  return address.kind() === cidr[0].kind() && address.match(cidr);
}

function parseCidr(text: string): Cidr {
  if (!ipaddr.isValidCIDR(text)) throw new Error(`not a CIDR: ${text}`);
  return ipaddr.parseCIDR(text);
}

function unbracket(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

async function lookupAll(host: string): Promise<string[]> {
  try {
    return (await systemLookup(host, { all: true, order: 'verbatim' })).map((entry) => entry.address);
  } catch (error) {
    throw new AddressError('name_unknown', error);
  }
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new AddressError('resolve_timeout')), deadlineMs);
  try {
    return await unlessAborted(deadline.signal, work);
  } catch (error) {
    throw error instanceof AddressError ? error : new AddressError('name_unknown', error);
  } finally {
    clearTimeout(timer);
  }
}
