import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from '../../deploy/local/settings.ts';
import { recordOf, recordText } from '../../scripts/release/record.ts';
import type { Explanation } from './explain.ts';

/** What `make why` prints of a scenario. */
export const printed = ({ scenario, seen, tree, answer, faults }: Explanation): string =>
  [
    `== ${scenario.title}`,
    scenario.broken,
    `The client sees: ${seen}`,
    '',
    tree,
    '',
    answer,
    ...faults.map((fault) => `WRONG: ${fault}`),
    '',
  ].join('\n');

/** docs/why.md */
export async function report(explanations: readonly Explanation[]): Promise<string> {
  const record = recordText(recordOf('why', root));
  const text = `${intro}${record}\n\n${explanations.map(section).join('\n')}`;
  return format(text, { ...(await resolveConfig(join(root, 'docs/why.md'))), parser: 'markdown' });
}

const intro = `# Why a call timed out

What the exported spans alone say about timeouts that were made to happen. \`REPORT=1 make why\` writes this file:
it starts the whole system with short limits, breaks one part after the other, asks the public API, and reads what the
services exported by OTLP. \`make why\` fails when the spans name another upstream, word or limit than the one that was
broken. [Operations](operations.md#traces) explains the words.

One line is one span: who did what, when it ran, how long it took, and its outcome. \`<==\` marks the answer: the deepest
call that failed. What went on after the answer is left out, and neighbours that went well and quickly share a line.

`;

const section = ({ scenario, seen, tree, answer }: Explanation): string => `## ${scenario.title}

${scenario.broken} The client sees: ${seen}.

\`\`\`text
${tree}

${answer}
\`\`\`
`;
