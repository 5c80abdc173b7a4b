import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command as Program, Option } from 'commander';
import type { Command, CommandContext, CommandGroup, Output } from './command.ts';
import { exitCodes } from './exit-codes.ts';

/** Runs a command that was found, with what stood behind it. */
export type Perform = (
  command: Command,
  given: Pick<CommandContext, 'args' | 'options'>,
  json: boolean,
) => Promise<void>;

const ABOUT = `Addresses and secrets come from the environment, or from $VISION_LOCAL_DIR/env (.local/env), which \`make up\`
writes: ADMIN_URL and ADMIN_TOKEN or ADMIN_TOKEN_FILE for the admin API; KAFKA_BROKERS for topics; S3_* for bucket.
VISION_OPERATOR names you in the audit log.`;

/** The command line as the library knows it; help, version and suggestions are the library's. */
export function createProgram(groups: CommandGroup[], single: Command[], perform: Perform): Program {
  const program = new Program('visionctl')
    .description('The operator of the Vision Recognition Service')
    .version(`visionctl ${version()}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', `\n${ABOUT}\n\nExit codes:\n${exitCodeList()}`);
  for (const group of groups) {
    const parent = program.command(group.name).description(group.summary);
    if (group.alias !== undefined) parent.alias(group.alias);
    for (const command of group.commands) addCommand(parent, command, perform);
  }
  for (const command of single) addCommand(program, command, perform);
  return program;
}

function addCommand(parent: Program, command: Command, perform: Perform): void {
  const entry = parent.command(command.name).description(command.summary);
  const names = (command.args ?? []).map(({ name }) => name);
  for (const { name, summary, choices, fallback } of command.args ?? []) {
    const argument = new Argument(fallback === undefined ? `<${name}>` : `[${name}]`, summary);
    if (fallback !== undefined) argument.default(fallback);
    entry.addArgument(choices ? argument.choices(choices) : argument);
  }
  const options = Object.entries(command.options ?? {}).map(([name, definition]) => {
    const { summary, value, choices, required = false } = definition;
    const option = new Option(`--${name}${value === undefined ? '' : ` <${value}>`}`, summary);
    if (choices) option.choices(choices);
    entry.addOption(option.makeOptionMandatory(required));
    return { name, attribute: option.attributeName() };
  });
  entry.option('--json', 'print JSON').action(async () => {
    const given = entry.opts<Record<string, string | boolean | undefined>>();
    const read = ({ name, attribute }: (typeof options)[number]) => {
      const value = given[attribute];
      return [name, value === undefined ? undefined : String(value)] as const;
    };
    await perform(
      command,
      {
        args: Object.fromEntries(names.map((name, index) => [name, String(entry.processedArgs[index])])),
        options: Object.fromEntries(options.map(read)),
      },
      given['json'] === true,
    );
  });
}

/** What a command prints. */
export const printed = ({ value, text }: Output, json: boolean): string =>
  json ? JSON.stringify(value, null, 2) : text;

function exitCodeList(): string {
  return exitCodes.map(({ code, means }) => `  ${code}  ${means}`).join('\n');
}

function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
