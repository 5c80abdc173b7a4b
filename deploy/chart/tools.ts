import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, installMissing } from '../local/host-programs.ts';
import { readSettings, root, say } from '../local/settings.ts';

/** Programs that look at the chart. */
export interface Tools {
  helm: string;
  /** Helm 4, which reads the same chart. */
  helm4: string;
  helmUnittest: string;
  promtool: string;
  kubernetesValidate: string;
}

/** PyPI has the Kubernetes schemas of many versions in this package. */
const KUBERNETES_VALIDATE = 'kubernetes-validate==1.37.0';

/** Installs what is missing; made once for all checkouts of a machine. */
export function ensureTools(): Tools {
  installMissing(['python', 'promtool']);
  const goTools = ensureGoTools('tools');
  return {
    helm: join(goTools, 'helm'),
    helm4: join(ensureGoTools('tools/helm4'), 'helm'),
    helmUnittest: join(goTools, 'helm-unittest'),
    promtool: findProgram('promtool') ?? 'promtool',
    kubernetesValidate: ensurePythonTool(),
  };
}

/** Runs a program to its end and returns what it wrote. @throws Error with its words when it fails. */
export function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    cwd: root,
    ...options,
  });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`.trim());
}

/** Helm, and helm-unittest beside Helm 3, built by Go from the modules that a folder pins. */
function ensureGoTools(folder: string): string {
  const cwd = join(root, 'deploy/chart', folder);
  const pin = createHash('sha256')
    .update(readFileSync(join(cwd, 'go.sum')))
    .digest('hex')
    .slice(0, 16);
  const target = join(readSettings().cacheDir, 'chart-tools', pin);
  return make(target, 'helm', () => {
    if (spawnSync('go', ['version']).status !== 0) {
      throw new Error(
        'Go 1.26 or newer is needed to build Helm: please install it (https://go.dev/dl) and run this again.',
      );
    }
    say('helm', 'building (only once, some minutes)');
    const env = { ...process.env, GOBIN: `${target}.tmp`, CGO_ENABLED: '0' };
    run('go', ['install', '-trimpath', '-ldflags=-s', 'tool'], { cwd, env });
  });
}

function ensurePythonTool(): string {
  const target = join(readSettings().cacheDir, KUBERNETES_VALIDATE.replace('==', '-'));
  const python = findProgram('python') ?? 'python3';
  const place = make(target, 'bin/kubernetes-validate', () => {
    say('python', `installing ${KUBERNETES_VALIDATE}`);
    // Not moved afterwards: an environment knows its own place.
    rmSync(target, { recursive: true, force: true });
    run(python, ['-m', 'venv', target]);
    run(join(target, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', KUBERNETES_VALIDATE]);
  });
  return join(place, 'bin/kubernetes-validate');
}

/** A folder that is there whole or not at all. */
function make(target: string, program: string, build: () => void): string {
  if (existsSync(join(target, program))) return target;
  mkdirSync(`${target}.tmp`, { recursive: true });
  build();
  if (existsSync(join(target, program))) rmSync(`${target}.tmp`, { recursive: true, force: true });
  else renameSync(`${target}.tmp`, target);
  return target;
}
