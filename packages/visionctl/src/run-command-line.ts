import { createAdminClient, UnreachableError } from './admin-client.ts';
import { parseCommandLine, usageOf } from './command.ts';
import { commands } from './commands/all.ts';
import type { Settings } from './config.ts';
import { UsageError } from './usage-error.ts';

export interface Terminal {
  print: (text: string) => void;
  complain: (text: string) => void;
}

/** Exit codes: 0 done; 1 refused, failed or a difference found; 2 wrong command line; 3 no answer. */
export async function runCommandLine(argv: string[], settings: Settings, terminal: Terminal): Promise<number> {
  try {
    const invocation = parseCommandLine(argv, commands);
    if (!invocation) {
      terminal.print(help());
      return 0;
    }
    const { command, args, options, json } = invocation;
    const { value, text, exitCode } = await command.run({
      admin: createAdminClient(settings),
      settings,
      args,
      options,
    });
    terminal.print(json ? JSON.stringify(value, null, 2) : text);
    return exitCode ?? 0;
  } catch (error) {
    terminal.complain(`visionctl: ${error instanceof Error ? error.message : String(error)}`);
    if (error instanceof UsageError) {
      terminal.complain('"visionctl help" lists the commands.');
      return 2;
    }
    return error instanceof UnreachableError ? 3 : 1;
  }
}

function help(): string {
  const lines = commands.map((command) => `  ${usageOf(command)}\n      ${command.summary}`);
  return [
    'visionctl: the operator of the Vision Recognition Service',
    '',
    ...lines,
    '',
    'Every command takes --json. ADMIN_URL, ADMIN_TOKEN, for dlq and topics KAFKA_BROKERS and for bucket S3_* come from',
    'the environment or from $VISION_LOCAL_DIR/env (.local/env); VISION_OPERATOR names you in the audit log.',
  ].join('\n');
}
