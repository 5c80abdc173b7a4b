import { installMissing } from '../deploy/local/host-programs.ts';
import type { HostProgram } from '../deploy/local/host-programs.ts';
import { jarsOf } from '../deploy/local/jars.ts';
import { readSettings, say } from '../deploy/local/settings.ts';
import { installSchemathesis } from '../test/fuzz/api/schemathesis.ts';
import type { Step } from './test-steps.ts';

/** What the stores, the services and the tests of decoding run. */
const systemPrograms: HostProgram[] = ['postgres', 'redis', 'java', 'mvn', 'ffmpeg', 'bwrap'];

/** Programs of the machine that these steps do not run without. */
export function programsOf(steps: readonly Step[]): HostProgram[] {
  const system = steps.some(needsSystem) ? systemPrograms : [];
  return [...new Set([...system, ...steps.flatMap(({ programs = [] }) => programs)])];
}

/** Programs without which parts of these steps are left out. */
export function optionalProgramsOf(steps: readonly Step[]): HostProgram[] {
  return [...new Set(steps.flatMap(({ optionalPrograms = [] }) => optionalPrograms))];
}

/**
 * Installs and downloads everything that these steps use, before the first of them starts: two workers that install at
 * the same time meet at the lock of dpkg. The steps run with VISION_INSTALL=never.
 * @throws Error with one sentence that says what is missing.
 */
export function installNeeds(steps: readonly Step[]): void {
  installMissing(programsOf(steps));
  for (const program of optionalProgramsOf(steps)) installWherePossible(program);
  const { cacheDir } = readSettings();
  if (steps.some(needsSystem)) for (const part of ['kafka', 's3']) jarsOf({ cacheDir }, part);
  if (steps.some(({ name }) => name === 'fuzz')) installSchemathesis(cacheDir);
}

const needsSystem = ({ needs }: Step) => needs !== 'nothing';

function installWherePossible(program: HostProgram): void {
  try {
    installMissing([program]);
  } catch {
    say('apt', `cannot install ${program}; the step that uses it says what it leaves out`);
  }
}
