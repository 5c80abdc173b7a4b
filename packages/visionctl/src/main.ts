import { runCommandLine } from './run-command-line.ts';
import { readSettings } from './config.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), readSettings(), {
  print: (text) => console.log(text),
  complain: (text) => console.error(text),
});
