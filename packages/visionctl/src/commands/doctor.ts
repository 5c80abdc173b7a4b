import { UnreachableError } from '../admin-client.ts';
import type { Command, CommandContext } from '../command.ts';
import { findingsOf, withAdvice } from '../diagnosis.ts';
import type { Finding } from '../diagnosis.ts';
import { placesOf, reach } from '../reach.ts';
import { readProcesses } from '../system-status.ts';
import { table } from '../table.ts';

const NO_ANSWER = 3;

export const doctorCommand: Command = {
  name: 'doctor',
  summary:
    'check every dependency of every process, from here and through the services, and suggest fixes; ' +
    'exit code 1 when something is wrong, 3 when the admin API gives no answer',
  run: async (context) => {
    const [here, system] = await Promise.all([
      Promise.all(placesOf(context.settings.values).map(reach)),
      throughServices(context),
    ]);
    const findings = [...here, ...system.findings];
    const wrong = findings.filter(({ fault }) => fault !== undefined);
    const rows = findings.map(({ advice: _advice, fault, ...finding }) => ({ ...finding, outcome: fault ?? 'ok' }));
    const text = [
      table(['from', 'what', 'ms', 'outcome'], rows),
      '',
      wrong.length === 0 ? 'All is well.' : `${wrong.length} of ${findings.length} are not well:`,
      ...wrong.map(({ from, what, fault, advice }) => `- ${from}: ${what}: ${fault ?? ''}\n    ${advice ?? ''}`),
    ];
    const exitCode = system.isSilent ? NO_ANSWER : wrong.length === 0 ? 0 : 1;
    return { value: { findings, well: wrong.length === 0 }, text: text.join('\n'), exitCode };
  },
};

async function throughServices({ admin }: CommandContext): Promise<{ findings: Finding[]; isSilent: boolean }> {
  try {
    return { findings: findingsOf(await readProcesses(admin)), isSilent: false };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const finding = withAdvice({ from: 'here', what: 'admin API' }, 'admin', error.message);
    return { findings: [finding], isSilent: error instanceof UnreachableError };
  }
}
