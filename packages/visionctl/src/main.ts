import { runCommandLine } from './run-command-line.ts';
import { readSettings } from './config.ts';

const complain = (text: string) => console.error(text);
process.exitCode = await runCommandLine(process.argv.slice(2), readSettings(undefined, { warn: complain }), {
  print: (text) => console.log(text),
  complain,
});
