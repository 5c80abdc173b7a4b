/** Bytes of unread responses in the kernel above which slow readers are cut earlier. */
const OF_ONE_NETWORK = 16 * 1024 * 1024;
const OF_ALL = 64 * 1024 * 1024;

interface Queued {
  /** Undefined: a trusted proxy, which carries many clients. */
  network: string | undefined;
  queued: number;
}

/** Decides for which connections the kernel holds too much: those of one network, or all of them. */
export function crowdOf(connections: readonly Queued[]): (network: string | undefined) => boolean {
  const byNetwork = new Map<string, number>();
  let all = 0;
  for (const { network, queued } of connections) {
    all += queued;
    if (network !== undefined) byNetwork.set(network, (byNetwork.get(network) ?? 0) + queued);
  }
  return (network) => all > OF_ALL || (network !== undefined && (byNetwork.get(network) ?? 0) > OF_ONE_NETWORK);
}
