import { CommanderError } from 'commander';
import type { Command as Program } from 'commander';
import { createAdminClient, UnreachableError } from './admin-client.ts';
import { groups, single } from './commands/all.ts';
import type { Settings } from './config.ts';
import { createProgram, printed } from './program.ts';
import { UsageError } from './usage-error.ts';

export interface Terminal {
  print: (text: string) => void;
  complain: (text: string) => void;
}

/** Runs a command line; returns the exit code. */
export async function runCommandLine(argv: string[], settings: Settings, terminal: Terminal): Promise<number> {
  const { print, complain } = terminal;
  let exitCode = 0;
  const program = createProgram(groups, single, async (command, given, json) => {
    const admin = createAdminClient(settings);
    const output = await command.run({ admin, settings, ...given, progress: complain });
    print(printed(output, json));
    exitCode = output.exitCode ?? 0;
  });
  for (const part of everyPart(program)) {
    part.exitOverride().configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: (text) => complain(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'visionctl: ')),
    });
  }
  try {
    await program.parseAsync(asCommandLine(argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    // The library has said what there was to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complain(`visionctl: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof UsageError) return 2;
    return error instanceof UnreachableError ? 3 : 1;
  }
}

/** Nothing at all asks for help; `help keys create` asks for that of one command. */
function asCommandLine(argv: string[]): string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}

const everyPart = (program: Program): Program[] => [program, ...program.commands.flatMap(everyPart)];
