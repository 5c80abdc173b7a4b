import { callOf } from './span.ts';
import type { Call } from './span.ts';
import { flat, unionOf } from './trace-tree.ts';
import type { Node } from './trace-tree.ts';
import { bytes, duration } from './units.ts';

interface FailedCall {
  node: Node;
  call: Call;
}

/** Which calls made the request late or fail, by their spans alone: the first of them, and those that are like it. */
export interface Verdict extends FailedCall {
  all: readonly FailedCall[];
}

/**
 * The deepest call that failed; what is above it failed because of it. Of several as deep the first, and with it all
 * that its caller asked of the same upstream with the same outcome. Where no upstream is at fault, a call that ended
 * because of its client.
 */
export function verdictOf(tree: Node): Verdict | undefined {
  const calls = flat(tree).flatMap((node) => {
    const call = callOf(node.span);
    return call ? [{ node, call }] : [];
  });
  const errors = calls.filter(({ call }) => call.isError);
  const left = calls.filter(({ call }) => CLIENT_ENDS.has(call.outcome));
  const [worst] = (errors.length > 0 ? errors : left).toSorted((a, b) => b.node.depth - a.node.depth);
  if (!worst) return undefined;
  const isLike = ({ node, call }: FailedCall) =>
    node.span.parentId === worst.node.span.parentId &&
    call.upstream === worst.call.upstream &&
    call.outcome === worst.call.outcome;
  return { ...worst, all: calls.filter(isLike) };
}

const CLIENT_ENDS = new Set(['client_slow', 'client_left']);

const meanings: Readonly<Record<string, string>> = {
  connect_timeout: 'no connection came about',
  headers_timeout: 'the answer did not begin',
  body_timeout: 'the answer began and did not end',
  idle_timeout: 'neither side moved a byte',
  total_timeout: 'the call took too long',
  queue_timeout: 'its turn did not come',
  pool_timeout: 'no connection of the pool came free',
  lock_timeout: 'a lock was not given up',
  deadline_exceeded: 'the time of the request was over',
  client_slow: 'the client was too slow; no upstream is at fault',
  client_left: 'the client left; no upstream is at fault',
};

/** The answer in words: which upstream, which limit, where the time went. */
export function sentencesOf({ node, call, all }: Verdict, tree: Node): string[] {
  const { upstream, outcome, limitMs } = call;
  const [operation, ...others] = new Set(all.map((one) => one.call.operation));
  const asked = others.length === 0 ? ` (${String(operation)})` : '';
  const spent = unionOf(all.map((one) => one.node.span));
  const times = all.length === 1 ? '' : `, in ${all.length} calls`;
  return [
    `Which upstream:     ${upstream}${asked}, asked by ${node.span.service}`,
    `Which limit:        ${limitMs === undefined ? 'none' : `${limitMs} ms`}: ${outcome}, ${meanings[outcome] ?? 'it failed'}`,
    `Where was the time: ${duration(spent)} of ${duration(tree.span.endMs - tree.span.startMs)}${times}`,
    ...also(asides(call)),
  ];
}

const also = (parts: readonly string[]) => (parts.length === 0 ? [] : [`What else:          ${parts.join(', ')}`]);

function asides({ breaker, bytesSent, deadlineLeftMs }: Call): string[] {
  return [
    ...(breaker === undefined ? [] : [`breaker ${breaker}`]),
    ...(bytesSent === undefined ? [] : [`${bytes(bytesSent)} sent`]),
    ...(deadlineLeftMs === undefined ? [] : [deadline(deadlineLeftMs)]),
  ];
}

const deadline = (leftMs: number) =>
  `${leftMs < 50 ? 'nothing' : duration(leftMs)} left of the time its caller waits for`;
