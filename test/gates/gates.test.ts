import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { steps } from '../../scripts/test-steps.ts';
import { RepositoryCopy } from './repository-copy.ts';
import type { Outcome } from './repository-copy.ts';

/** Each test breaks in a copy what a gate guards: the gate has to fail and to name the break. */

// Longer than any of these commands takes on a busy machine.
const PATIENCE_MS = 600_000;
const SOURCE = 'packages/shared/src';

let copy: RepositoryCopy;
afterAll(() => copy.remove());

describe('gates that read files one by one', () => {
  beforeAll(() => {
    copy = RepositoryCopy.ofRootFiles('scripts/check-keys.ts', 'scripts/project-files.ts', 'test/support');
  });
  afterAll(() => copy.remove());

  test('lint fails for a doubled key and for a doubled target of make', () => {
    copy.write('.doubled.json', '{ "scripts": { "format": "check", "format": "write" } }\n');
    copy.write('config/doubled.yaml', 'a:\n  b: 1\n  b: 2\n');
    copy.append('Makefile', '\nup:\n\t@true\n');
    const outcome = gate('lint');
    expectRed(outcome, /\.doubled\.json: Map keys must be unique/);
    expectRed(outcome, /config\/doubled\.yaml: Map keys must be unique/);
    expectRed(outcome, /Makefile:\d+: warning: overriding recipe for target 'up'/);
    copy.write('.doubled.json', '{}\n');
    copy.write('config/doubled.yaml', 'a: 1\n');
    copy.replace('Makefile', '\nup:\n\t@true\n', '');
  });

  test(
    'lint fails for what its rules forbid',
    () => {
      copy.write(`${SOURCE}/waits.ts`, 'export const first = (many: Promise<void>[]) => Promise.race(many);\n');
      copy.write('doubled.config.js', 'export default { a: 1, a: 2 };\n');
      copy.write(`${SOURCE}/silenced.ts`, '// eslint-disable-next-line no-console\nconsole.log(1);\n');
      copy.write(`${SOURCE}/barrel.ts`, "export { first } from './waits.ts';\n");
      copy.write(
        'services/tasks/src/db/moves.ts',
        "export const end = (tasks: Knex) => tasks.update({ status: 'failed' });\n",
      );
      copy.write('services/quota/src/domain/today.ts', 'export const today = () => new Date();\n');
      const outcome = gate('lint');
      expectRed(outcome, /waits\.ts\n.*Use atMost or unlessAborted/);
      expectRed(outcome, /doubled\.config\.js\n.*Duplicate key 'a'/);
      expectRed(outcome, /silenced\.ts\n.*Say behind `--`/);
      expectRed(outcome, /barrel\.ts\n.*there are no barrels/);
      expectRed(outcome, /moves\.ts\n(?:.*\n)*.*Tasks move by moveTask only/);
      expectRed(outcome, /today\.ts\n.*a decision gets the time as an argument/);
    },
    PATIENCE_MS,
  );

  test(
    'format fails for a file that prettier would write differently',
    () => {
      copy.write(`${SOURCE}/unformatted.ts`, 'export const  text = "a"\n');
      expectRed(gate('format'), /unformatted\.ts/);
    },
    PATIENCE_MS,
  );

  test(
    'typecheck fails for an error of types',
    () => {
      copy.write(`${SOURCE}/mistyped.ts`, 'export const count: number = "one";\n');
      expectRed(gate('typecheck'), /mistyped\.ts\(1,14\): error TS2322/);
    },
    PATIENCE_MS,
  );

  test(
    'compose fails for a setting of a service that does not exist',
    () => {
      copy.replace('docker-compose.yml', '\n  kafka:\n', '\n  kafka:\n    restrat: always\n');
      expectRed(gate('compose'), /"\/services\/kafka".*must NOT have additional properties/);
    },
    PATIENCE_MS,
  );

  test(
    'integration fails for a file that leaves something open',
    () => {
      const leak = `import { test } from '@jest/globals';\ntest('leaks', () => void setInterval(() => 0, 1000));\n`;
      copy.write('services/quota/test/leak.test.ts', leak);
      const outcome = copy.run([...commandOf('integration'), '--forceExit']);
      expectRed(outcome, /FAIL integration services\/quota\/test\/leak\.test\.ts/);
      expectRed(outcome, /open handles after the last test:\n\s+Timeout\n\s+at .*leak\.test\.ts:2:/);
    },
    PATIENCE_MS,
  );
});

describe('gates that read the whole repository', () => {
  beforeAll(() => {
    copy = RepositoryCopy.ofEverything();
  });

  // It reads everything: one run meets all that it has to name.
  describe('docs', () => {
    let outcome: Outcome;
    beforeAll(() => {
      copy.append('docs/env.md', '\nThis is written by hand.\n');
      copy.append(
        'docs/flow.md',
        '\nSee `services/quota/src/domain/nowhere.ts`.\nA store that is away.\nRun `make nothing`.\n',
      );
      copy.replace('services/quota/src/http/verify.ts', "'Recomputes every", "'Recompute every");
      outcome = gate('docs');
    }, PATIENCE_MS);

    test('docs fails for a generated document that is stale', () => {
      expectRed(outcome, /do not follow the code any more[^]*docs\/env\.md/);
    });

    test('docs fails for a document that names a file or a target of make that does not exist', () => {
      expectRed(outcome, /docs\/flow\.md.*nowhere\.ts/);
      expectRed(outcome, /docs\/flow\.md: the Makefile has no target nothing/);
    });

    test('docs fails for a phrase that has a plain one', () => {
      expectRed(outcome, /docs\/flow\.md: "is away": write "is unavailable"/);
    });

    test('docs fails for a summary that does not begin with a verb in the third person', () => {
      expectRed(outcome, /verifyLedger: "Recompute every [^]*does not begin with a verb/);
    });
  });

  test(
    'deps fails for an export that is not used',
    () => {
      copy.append('services/quota/src/domain/quota-day.ts', '\nexport const unusedByAll = 1;\n');
      expectRed(gate('deps'), /unusedByAll/);
    },
    PATIENCE_MS,
  );

  test(
    'deps fails for an import against the direction of layers',
    () => {
      copy.write('services/quota/src/domain/forbidden.ts', "import '../config.ts';\n");
      expectRed(gate('deps'), /error domain-keeps-its-direction: services\/quota\/src\/domain\/forbidden\.ts/);
    },
    PATIENCE_MS,
  );

  test(
    'rules fails for an alert that does not fire',
    () => {
      copy.replace('charts/vision/files/alerts.yaml', '14.4 * vision:answers:budget', '14400 * vision:answers:budget');
      const outcome = copy.run([...commandOf('rules'), '--testNamePattern', 'VisionAnswersFailFast fires']);
      expectRed(outcome, /VisionAnswersFailFast › fires/);
    },
    PATIENCE_MS,
  );
});

function gate(name: string): Outcome {
  return copy.run(commandOf(name));
}

/** The command that `make` runs; counts of the copy are not kept. */
function commandOf(name: string): string[] {
  const step = steps.find((known) => known.name === name);
  if (!step) throw new Error(`no step ${name}`);
  return step.command.filter((part) => part !== '--json' && !part.startsWith('--outputFile='));
}

function expectRed({ exitCode, output }: Outcome, message: RegExp): void {
  expect(output).toMatch(message);
  expect(exitCode).toBeGreaterThan(0);
}
