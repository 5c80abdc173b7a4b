import type { Command } from '../../packages/visionctl/src/command.ts';
import { groups, single } from '../../packages/visionctl/src/commands/all.ts';
import { exitCodes } from '../../packages/visionctl/src/exit-codes.ts';

/** docs/visionctl.md: every command, as the program itself knows it. */
export function commandReference(): string {
  const sections = groups.map(({ name, alias, summary, commands }) => {
    const also = alias === undefined ? '' : ` \`visionctl ${alias}\` is the same.`;
    return `## ${name}\n\n${sentence(summary)}${also}\n\n${commands.map((command) => entry(command, name)).join('\n')}`;
  });
  return `# visionctl

Written by \`npm run docs\` from the commands. What to do when, and how to set it up, stands in
[operations.md](operations.md); the settings in the [README of the package](../packages/visionctl/README.md).

Every command takes \`--json\` and \`--help\`; \`visionctl --version\` prints the version. For completion put
\`source <(visionctl completion bash)\`, or \`zsh\`, into the start file of your shell.

Exit codes:

${exitCodes.map(({ code, means }) => `- ${code}: ${means}`).join('\n')}

${sections.join('\n\n')}

## Commands of one word

${single.map((command) => entry(command)).join('\n')}
`;
}

function entry({ name, summary, args = [], options = {} }: Command, group?: string): string {
  const words = ['visionctl', ...(group === undefined ? [] : [group]), name, ...args.map(shownArgument)];
  const parts = [
    ...args.map((arg) => `  - \`${shownArgument(arg)}\`: ${arg.summary}${choicesOf(arg.choices)}`),
    ...Object.entries(options).map(([option, { value, summary: meaning, choices, required }]) => {
      const shown = value === undefined ? `--${option}` : `--${option} <${value}>`;
      return `  - \`${shown}\`${required ? ' (required)' : ''}: ${meaning}${choicesOf(choices)}`;
    }),
  ];
  return [`- \`${words.join(' ')}\`: ${summary.replaceAll('<', '\\<')}`, ...parts].join('\n');
}

const shownArgument = ({ name, fallback }: NonNullable<Command['args']>[number]) =>
  fallback === undefined ? `<${name}>` : `[${name}]`;

const choicesOf = (choices: readonly string[] | undefined) =>
  choices === undefined ? '' : `; one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
