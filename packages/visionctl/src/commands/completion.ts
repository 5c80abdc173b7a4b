import type { Command, CommandGroup } from '../command.ts';
import { bashCompletion, zshCompletion } from '../completion.ts';

/** Prints a script that knows all words, so that a shell completes without starting this program. */
export const completionCommand = (all: () => { groups: CommandGroup[]; single: Command[] }): Command => ({
  name: 'completion',
  args: [{ name: 'shell', summary: 'bash or zsh', choices: ['bash', 'zsh'] }],
  summary: 'print the script for the completion of a shell: source <(visionctl completion bash)',
  run: async ({ args }) => {
    const { groups, single } = all();
    const script = args['shell'] === 'zsh' ? zshCompletion(groups, single) : bashCompletion(groups, single);
    return { value: { script }, text: script };
  },
});
