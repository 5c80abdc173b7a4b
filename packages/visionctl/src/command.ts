import { parseArgs } from 'node:util';
import type { AdminClient } from './admin-client.ts';
import type { Settings } from './config.ts';
import { UsageError } from './usage-error.ts';

export interface CommandContext {
  admin: AdminClient;
  settings: Settings;
  args: Record<string, string>;
  options: Record<string, string | undefined>;
}

export interface Output {
  /** Printed with `--json`. */
  value: unknown;
  /** Printed otherwise. */
  text: string;
  /** Exit code, when it is not 0. */
  exitCode?: number;
}

export interface Command {
  /** `keys create` */
  name: string;
  /** Names of the positional arguments; all are required. */
  args?: string[];
  /** Options with a value, by name, with what they mean. Those with `!` at the end have to be given. */
  options?: Record<string, string>;
  summary: string;
  run: (context: CommandContext) => Promise<Output>;
}

export interface Invocation {
  command: Command;
  args: Record<string, string>;
  options: Record<string, string | undefined>;
  json: boolean;
}

/**
 * Finds the command of a command line and its arguments; undefined when help was asked for.
 * @throws UsageError for unknown commands, options and missing arguments.
 */
export function parseCommandLine(argv: string[], commands: Command[]): Invocation | undefined {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h') || argv[0] === 'help') return undefined;
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => argv[index] === word));
  if (!command) throw new UsageError(`There is no command "${argv.slice(0, 2).join(' ')}".`);
  const names = Object.keys(command.options ?? {});
  const { values, positionals } = parse(argv.slice(command.name.split(' ').length), names);
  const missing = names.find((name) => name.endsWith('!') && values[bare(name)] === undefined);
  if (missing !== undefined) throw new UsageError(`--${bare(missing)} is missing: ${usageOf(command)}`);
  const wanted = command.args ?? [];
  if (positionals.length !== wanted.length) throw new UsageError(`Usage: ${usageOf(command)}`);
  const { json, ...options } = values;
  return {
    command,
    args: Object.fromEntries(wanted.map((name, index) => [name, positionals[index] ?? ''])),
    options: options as Record<string, string | undefined>,
    json: json === true,
  };
}

/** One line that shows how a command is called. */
export function usageOf({ name, args = [], options = {} }: Command): string {
  const named = Object.keys(options).map((option) =>
    option.endsWith('!') ? `--${bare(option)} …` : `[--${option} …]`,
  );
  return ['visionctl', name, ...args.map((arg) => `<${arg}>`), ...named].join(' ');
}

const bare = (name: string) => name.replace(/!$/, '');

interface Parsed {
  values: Record<string, string | boolean | undefined>;
  positionals: string[];
}

function parse(args: string[], names: string[]): Parsed {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        ...Object.fromEntries(names.map((name) => [bare(name), { type: 'string' as const }])),
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
