import type { Span } from './span.ts';

export interface Node {
  span: Span;
  depth: number;
  children: Node[];
}

/**
 * The spans of one trace below the request that began it, as far as they began before it was answered: what goes on
 * afterwards cannot have made the answer late. A span whose parent was never exported hangs at the top.
 */
export function treeOf(spans: readonly Span[]): Node {
  const root = spans.find(({ parentId }) => parentId === undefined);
  if (!root) throw new Error('the trace has no beginning');
  const before = spans.filter((span) => span !== root && span.startMs < root.endMs);
  const ids = new Set([root, ...before].map(({ id }) => id));
  const nodeOf = (span: Span, depth: number): Node => {
    const own = before.filter((one) => parentOf(one, { ids, root }) === span.id);
    const children = own.toSorted((a, b) => a.startMs - b.startMs).map((child) => nodeOf(child, depth + 1));
    return { span, depth, children };
  };
  return nodeOf(root, 0);
}

function parentOf({ parentId = '' }: Span, { ids, root }: { ids: ReadonlySet<string>; root: Span }): string {
  return ids.has(parentId) ? parentId : root.id;
}

/** The time in which at least one of these ran, in milliseconds. */
export function unionOf(spans: readonly Span[]): number {
  let [covered, until] = [0, -Infinity];
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    covered += Math.max(0, endMs - Math.max(startMs, until));
    until = Math.max(until, endMs);
  }
  return covered;
}

/** The node and all below it, each before its children. */
export function flat(node: Node): Node[] {
  return [node, ...node.children.flatMap(flat)];
}
