import type { Asked } from './asked.ts';
import type { Range, Scenario } from './scenario.ts';
import { printTree } from './print-tree.ts';
import type { Span } from './span.ts';
import { treeOf } from './trace-tree.ts';
import { sentencesOf, verdictOf } from './verdict.ts';

/** One scenario, as its spans explain it. */
export interface Explanation {
  scenario: Scenario;
  seen: string;
  tree: string;
  answer: string;
  /** What the spans do not say as they have to. */
  faults: string[];
}

export function explain(scenario: Scenario, { seen }: Asked, spans: readonly Span[]): Explanation {
  const root = treeOf(spans);
  const verdict = verdictOf(root);
  const answer = verdict ? sentencesOf(verdict, root).join('\n') : 'The spans name no call that failed.';
  const found = verdict && {
    service: verdict.node.span.service,
    upstream: verdict.call.upstream,
    operation: verdict.call.operation,
    outcome: verdict.call.outcome,
    limitMs: verdict.call.limitMs,
  };
  const faults = Object.entries(scenario.expected).flatMap(([name, wanted]) => {
    const told = found?.[name as keyof typeof found];
    return isWanted(told, wanted) ? [] : [`${name} is ${String(told)} and has to be ${textOf(wanted)}`];
  });
  return { scenario, seen, tree: printTree(root, new Set(verdict?.all.map(({ node }) => node))), answer, faults };
}

type Wanted = string | number | Range;

const isWanted = (told: string | number | undefined, wanted: Wanted): boolean =>
  typeof wanted === 'object' ? typeof told === 'number' && told >= wanted.from && told <= wanted.to : told === wanted;

const textOf = (wanted: Wanted) => (typeof wanted === 'object' ? `${wanted.from} to ${wanted.to}` : wanted);
