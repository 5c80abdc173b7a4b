import { callOf } from './span.ts';
import type { Span } from './span.ts';
import { flat, unionOf } from './trace-tree.ts';
import type { Node } from './trace-tree.ts';
import { duration } from './units.ts';

interface Line {
  label: string;
  /** What is shown as a bar: when it began and ended. */
  from: number;
  to: number;
  spentMs: number;
  says: string;
}

const BAR_WIDTH = 20;

/**
 * A trace as text: one line a span, with when it ran as a bar. Neighbours that went well and quickly explain nothing
 * one by one and share a line. The culprits are pointed at.
 */
export function printTree(root: Node, culprits: ReadonlySet<Node> = new Set()): string {
  const { startMs, endMs } = root.span;
  const gapMs = ((endMs - startMs) * 2) / BAR_WIDTH;
  const lines = linesOf(root, { culprits, gapMs, first: '', rest: '' });
  const width = Math.max(...lines.map(({ label }) => label.length));
  return lines
    .map((line) => {
      const bar = barOf(line, { startMs, endMs });
      return `${line.label.padEnd(width)} |${bar}| ${duration(line.spentMs).padStart(7)}  ${line.says}`.trimEnd();
    })
    .join('\n');
}

interface Place {
  culprits: ReadonlySet<Node>;
  /** Neighbours that are this far apart share no line. */
  gapMs: number;
  /** What stands before the label of the node, and of those below it. */
  first: string;
  rest: string;
}

function linesOf(node: Node, { first, rest, ...seen }: Place): Line[] {
  const { span } = node;
  const says = seen.culprits.has(node) ? `${saysOf(span)} <== HERE` : saysOf(span);
  const { startMs: from, endMs: to } = span;
  const own: Line = { label: first + labelOf(span), from, to, spentMs: to - from, says };
  const groups = grouped(node.children, seen.gapMs);
  const below = groups.flatMap((group, index) => {
    const isLast = index === groups.length - 1;
    const place = { ...seen, first: `${rest}${isLast ? '└─ ' : '├─ '}`, rest: `${rest}${isLast ? '   ' : '│  '}` };
    return group.every(isUneventful) ? [together(group, place)] : group.flatMap((one) => linesOf(one, place));
  });
  return [own, ...below];
}

/** What is shorter is no reason for a request to be late. */
const QUICK_MS = 750;

/** It went well and quickly, with all that is below it. */
const isUneventful = (node: Node): boolean =>
  flat(node).every(({ span }) => {
    const failed =
      (callOf(span)?.outcome ?? 'ok') !== 'ok' || Number(span.attributes['http.response.status_code']) >= 400;
    return !failed && span.endMs - span.startMs < QUICK_MS;
  });

/** Uneventful neighbours together, everything else alone. */
function grouped(nodes: readonly Node[], gapMs: number): Node[][] {
  const groups: Node[][] = [];
  for (const node of nodes) {
    const last = groups.at(-1) ?? [];
    const ended = Math.max(...last.map(({ span }) => span.endMs));
    const isNear = node.span.startMs - ended < gapMs;
    if (last.length > 0 && isNear && last.every(isUneventful) && isUneventful(node)) last.push(node);
    else groups.push([node]);
  }
  return groups;
}

function together(group: readonly Node[], { first }: Place): Line {
  const spans = group.map(({ span }) => span);
  const upstreams = new Set(spans.flatMap(upstreamOf));
  return {
    label: `${first}${upstreams.size === 0 ? labelOf((group[0] as Node).span) : `asks ${[...upstreams].toSorted().join(', ')}`}`,
    from: Math.min(...spans.map(({ startMs }) => startMs)),
    to: Math.max(...spans.map(({ endMs }) => endMs)),
    spentMs: unionOf(spans),
    says: 'ok',
  };
}

/** Whom a span asked something; nobody for what a service does by itself. */
function upstreamOf(span: Span): string[] {
  const upstream = callOf(span)?.upstream ?? (span.attributes['messaging.system'] === undefined ? undefined : 'kafka');
  return upstream === undefined ? [] : [upstream];
}

function labelOf(span: Span): string {
  const call = callOf(span);
  return call ? `asks ${call.upstream}: ${call.operation}` : `${span.service}: ${span.name}`;
}

/** How a call ended; what a server answered and why. */
function saysOf(span: Span): string {
  const call = callOf(span);
  if (call) {
    const isTimeout = call.outcome.endsWith('_timeout') || call.outcome === 'client_slow';
    return isTimeout && call.limitMs !== undefined ? `${call.outcome} (${call.limitMs} ms)` : call.outcome;
  }
  const told = ['http.response.status_code', 'app.error.reason', 'app.task.status'].map(
    (name) => span.attributes[name],
  );
  const failed = Number(span.attributes['app.images.failed'] ?? 0);
  const images = failed > 0 ? [`images failed: ${failed}`] : [];
  return [...told, ...images].filter((one) => one !== undefined).join(' ');
}

function barOf({ from, to }: Line, { startMs, endMs }: { startMs: number; endMs: number }): string {
  const scale = BAR_WIDTH / Math.max(1, endMs - startMs);
  const begin = Math.min(BAR_WIDTH - 1, Math.max(0, Math.floor((from - startMs) * scale)));
  const end = Math.min(BAR_WIDTH, Math.max(begin + 1, Math.ceil((to - startMs) * scale)));
  return `${' '.repeat(begin)}${'='.repeat(end - begin)}${' '.repeat(BAR_WIDTH - end)}`;
}
