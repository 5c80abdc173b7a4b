import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { output } from '../../images/engine.ts';

/**
 * Notes every connection that a container begins to anything but these addresses ("192.0.2.5:5432"), and every datagram
 * it sends; none is held back.
 */
export function watchConnections(namespace: string, allowed: string[]): void {
  const pairs = allowed.map((address) => address.replace(':', ' . ')).join(', ');
  const rules = `
    table inet watch {
      set seen4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 4096; }
      set seen6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 4096; }
      chain out {
        type filter hook output priority 0; policy accept;
        oifname "lo" accept
        ct direction reply accept
        ${pairs === '' ? '' : `ip daddr . tcp dport { ${pairs} } accept`}
        meta nfproto ipv4 meta l4proto { tcp, udp } add @seen4 { ip daddr . meta l4proto . th dport }
        meta nfproto ipv6 meta l4proto { tcp, udp } add @seen6 { ip6 daddr . meta l4proto . th dport }
      }
    }`;
  const { status, stderr } = spawnSync('nsenter', [`--net=${namespace}`, 'nft', '-f', '-'], {
    input: rules,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`nft refused the rules of the watch: ${stderr}`);
}

/** What the container tried to reach beyond the allowed addresses, as "address protocol port". */
export function connectionsSeen(namespace: string): string[] {
  return ['seen4', 'seen6'].flatMap((set) => {
    const said = output(['nsenter', `--net=${namespace}`, 'nft', '--json', 'list', 'set', 'inet', 'watch', set]);
    const { nftables } = JSON.parse(said) as { nftables: { set?: { elem?: unknown[] } }[] };
    return nftables.flatMap(({ set: found }) => found?.elem ?? []).map(textOf);
  });
}

/** Elements are `{ concat: [address, protocol, port] }`, with more around them when there are counters. */
function textOf(element: unknown): string {
  const { concat } = element as { concat?: (string | number)[] };
  return concat?.join(' ') ?? JSON.stringify(element);
}

export interface NameServer {
  /** "192.0.2.3 asked for example.com", each once. */
  asked: () => string[];
  close: () => void;
}

/** A name server that knows no name and remembers every question. */
export async function startNameServer(): Promise<NameServer> {
  const questions = new Set<string>();
  const socket = createSocket('udp4', (message, peer) => {
    questions.add(`${peer.address} asked for ${nameIn(message)}`);
    const answer = Buffer.from(message);
    // A response (QR), recursion available, "no such name".
    answer.writeUInt16BE(0x8183, 2);
    socket.send(answer, peer.port, peer.address);
  });
  await new Promise<void>((done) => socket.bind(53, '0.0.0.0', done));
  return { asked: () => [...questions].sort(), close: () => socket.close() };
}

function nameIn(message: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; message[at]; at += 1 + (message[at] ?? 0)) {
    labels.push(message.subarray(at + 1, at + 1 + (message[at] ?? 0)).toString('latin1'));
  }
  return labels.join('.');
}
