import { Resolver } from 'node:dns/promises';
import { AddressError } from './address-error.ts';

export interface LookupOptions {
  /** Longest time for the whole lookup. */
  deadlineMs: number;
  /** Ends the lookup early; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** Finds every address of a name. @throws AddressError `name_unknown`, `resolve_timeout`, `resolve_failed`. */
export type Lookup = (name: string, options: LookupOptions) => Promise<string[]>;

/** The first packet may be lost: it is sent again after a second, as often as the deadline allows. */
const TRY_MS = 1_000;
const TRIES = 4;

/**
 * Resolves names with c-ares. Unlike `dns.lookup` it holds no thread of the pool, so a silent name server delays only
 * its own caller, and a lookup can be aborted. It reads neither the hosts file nor search lists.
 * @param servers IP addresses, with a port when it is not 53; those of the system when there are none.
 * @throws Error when a server is no IP address.
 */
export function createLookup(servers: readonly string[] = []): Lookup {
  const createResolver = () => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  };
  createResolver();
  return async (name, { deadlineMs, signal }) => {
    signal?.throwIfAborted();
    // One for each lookup, because cancel() ends all queries of a resolver.
    const resolver = createResolver();
    const cancel = () => resolver.cancel();
    const timer = setTimeout(cancel, deadlineMs);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal?.throwIfAborted();
      return addressesOf(answers);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  };
}

/** The addresses of both families. A family that has none, or whose answer is missing, does not hide the other. */
function addressesOf(answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const causes = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const codes = causes.map((cause) => (cause as NodeJS.ErrnoException).code ?? '');
  if (codes.every((code) => ABSENT.has(code))) throw new AddressError('name_unknown', causes[0]);
  throw new AddressError(codes.some((code) => LATE.has(code)) ? 'resolve_timeout' : 'resolve_failed', causes[0]);
}

const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);
/** The deadline cancels; c-ares itself gives up after its last try. */
const LATE: ReadonlySet<string> = new Set(['ECANCELLED', 'ETIMEOUT']);
