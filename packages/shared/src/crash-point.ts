/**
 * Names a step between two durable effects. In tests, `CRASH_AT=<name>` (or `<name>:<n>` for the n-th passage) kills
 * the process there with SIGKILL, so that recovery from every step can be shown; otherwise it does nothing. The names
 * are read from the sources by the crash suite: a step without a case fails it.
 */
export function crashPoint(name: string): void {
  if (crashAt === undefined) return;
  const [wanted, passage = '1'] = crashAt.split(':');
  if (wanted !== name) return;
  passages += 1;
  if (passages === Number(passage)) process.kill(process.pid, 'SIGKILL');
}

let passages = 0;
// eslint-disable-next-line n/no-process-env -- a test switch, deliberately outside every configuration
const crashAt = process.env['NODE_ENV'] === 'test' ? process.env['CRASH_AT'] : undefined;
