import type { IncomingMessage } from 'node:http';
import { clientNetwork } from '../domain/client-network.ts';
import type { Deps } from '../use-cases/deps.ts';

/** The network of the client, as far as the proxies in between are trusted. */
export function networkOfRequest(
  req: IncomingMessage,
  { isTrustedProxy }: Pick<Deps['settings'], 'isTrustedProxy'>,
): string {
  // Node joins repeated headers of this name with commas, in their order.
  const forwardedFor = req.headers['x-forwarded-for'];
  return clientNetwork({ peer: req.socket.remoteAddress, forwardedFor: forwardedFor?.toString() }, isTrustedProxy);
}
