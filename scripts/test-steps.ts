import { join } from 'node:path';
import type { HostProgram } from '../deploy/local/host-programs.ts';
import { readSettings } from '../deploy/local/settings.ts';

/** One part of `make test`. */
export interface Step {
  name: string;
  /** Of what runs beside it; a system of its own it starts and stops by itself, below a folder of its name. */
  needs: 'nothing' | 'infrastructure' | 'system' | 'own system';
  /** Of the machine, besides those that the infrastructure and the system need. */
  programs?: HostProgram[];
  /** Parts of it are left out, with a line that says so, where these cannot be had. */
  optionalPrograms?: HostProgram[];
  command: string[];
  /** Only when it is named: all others together take about 15 minutes of two cores. */
  isOnDemand?: true;
  /** Reads the sources and nothing else, and counts no tests: its last lines say why it failed. */
  isStatic?: true;
  /** It computes, and the step behind it does so, too, or waits for most of its time: they run together. */
  isBesideNext?: true;
}

const resultsDir = join(readSettings().localDir, 'test/results');

/** Where a step writes its counts. */
export function resultsOf(step: string): string {
  return join(resultsDir, `${step}.json`);
}

/** Some files begin what others build on, or look at what the others have left: their metrics and lines. */
const ORDERED = '--testSequencer=<rootDir>/test/support/first-and-last.js';

/** A command of package.json. */
function check(name: string, script = name): Step {
  const command = ['npm', 'run', '--silent', script];
  return { name, needs: 'nothing', command, isStatic: true, isBesideNext: true };
}

/** All of them, in the order in which they run. */
export const steps: Step[] = [
  check('lint'),
  check('format'),
  check('typecheck'),
  check('deps'),
  check('docs', 'docs:check'),
  check('compose'),
  { name: 'unit', needs: 'nothing', command: jest('unit', '--maxWorkers=2'), isBesideNext: true },
  {
    name: 'rules',
    needs: 'nothing',
    programs: ['promtool', 'alertmanager', 'amtool'],
    command: jest('rules', '--maxWorkers=2'),
    isBesideNext: true,
  },
  // One after the other: these share one system, and some turn its switches.
  { name: 'e2e', needs: 'system', command: jest('e2e', '--runInBand', ORDERED) },
  {
    name: 'integration',
    needs: 'infrastructure',
    programs: ['openssl', 'mosquitto'],
    // These wait more than half of their time: for leases, answers and processes.
    command: jest('integration', '--maxWorkers=6'),
  },
  // Hundreds of processes are started and killed, which takes as long as all other integration tests.
  {
    name: 'outages',
    needs: 'infrastructure',
    programs: ['openssl', 'mosquitto'],
    command: jest('outages', '--maxWorkers=6'),
    isOnDemand: true,
  },
  {
    name: 'gates',
    needs: 'nothing',
    programs: ['promtool'],
    command: jest('gates', '--runInBand'),
    isOnDemand: true,
  },
  // Hundreds of rows of one table: only those that fail are worth a line.
  {
    name: 'attacks',
    needs: 'system',
    command: jest('attacks', '--runInBand', '--verbose=false'),
    isOnDemand: true,
  },
  {
    name: 'fuzz',
    needs: 'system',
    programs: ['python'],
    command: script('fuzz', 'test/fuzz/run.ts'),
    isOnDemand: true,
  },
  // Brings a system of its own, with a fault proxy before every part.
  {
    name: 'faults',
    needs: 'own system',
    optionalPrograms: ['nginx', 'gstRtsp', 'libfaketime', 'mosquitto'],
    command: script('faults', 'test/faults/run.ts'),
    isOnDemand: true,
  },
  // Replaces every process dozens of times, which takes minutes.
  {
    name: 'rotate',
    needs: 'own system',
    optionalPrograms: ['nginx', 'gstRtsp', 'libfaketime', 'mosquitto'],
    command: script('rotate', 'test/rotation/run.ts'),
    isOnDemand: true,
  },
  // Installs a browser, 200 MB, once.
  {
    name: 'browser',
    needs: 'system',
    programs: ['chromium'],
    command: jest('browser', '--runInBand', ORDERED),
    isOnDemand: true,
  },
  // Installs 300 MB of Python packages once.
  {
    name: 'python-client',
    needs: 'system',
    programs: ['python'],
    command: script('python-client', 'scripts/python-client.ts'),
    isOnDemand: true,
  },
];

function jest(project: string, ...args: string[]): string[] {
  // V8 caches what it compiled, and with it every module of test files that have ended: a worker would collect garbage
  // around them for a seventh of its time.
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', '--no-compilation-cache'];
  const output = `--outputFile=${resultsOf(project)}`;
  return [
    process.execPath,
    ...flags,
    'node_modules/jest/bin/jest.js',
    '--selectProjects',
    project,
    '--json',
    output,
    ...args,
  ];
}

function script(step: string, file: string): string[] {
  return [process.execPath, '--conditions=@vision/source', file, resultsOf(step)];
}
