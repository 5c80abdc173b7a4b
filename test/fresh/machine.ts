import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { outputOf, runProgram } from '../../deploy/local/program.ts';
import { registryVariables } from './registries.ts';

/**
 * A machine has all rights in itself: with less, namespaces of decoders could not be made. It has a network of its own,
 * behind which it reaches the package registries; of the programs of this machine it sees none.
 */
const FLAGS = [
  '--runtime=runc',
  '--init',
  '--network=slirp4netns',
  '--shm-size=1g',
  '--pids-limit=0',
  '--ulimit=nofile=16384:16384',
  '--ulimit=nproc=32768:32768',
  '--cap-add=ALL',
  '--security-opt=seccomp=unconfined',
  '--security-opt=apparmor=unconfined',
  '--security-opt=unmask=ALL',
];

interface Options {
  /** `root` unless it says otherwise. */
  user?: string;
  cwd?: string;
}

/** A root file system that runs as a machine would, without its init system. */
export class Machine {
  readonly #name: string;

  private constructor(name: string) {
    this.#name = name;
  }

  static async start(name: string, rootfs: string): Promise<Machine> {
    await runProgram(['podman', 'rm', '--force', '--ignore', name]);
    const variables = Object.entries(registryVariables()).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    const flags = ['--detach', '--name', name, '--hostname', 'fresh', ...FLAGS, ...variables];
    await outputOf(['podman', 'run', ...flags, '--rootfs', rootfs, 'sleep', 'infinity']);
    return new Machine(name);
  }

  /** Runs a shell command to its end. @throws Error with its last lines when it fails. */
  async check(command: string, options: Options = {}): Promise<string> {
    const { status, stdout, stderr } = await runProgram(['podman', ...this.#exec(command, options)]);
    if (status === 0) return stdout.trim();
    const lines = `${stdout}${stderr}`.trim().split('\n');
    throw new Error(`${command.slice(0, 80)} failed:\n${lines.slice(-15).join('\n')}`);
  }

  /** Runs a shell command with all that it says in a file; returns its exit code. */
  async run(command: string, logFile: string, options: Options = {}): Promise<number> {
    const child = spawn('podman', this.#exec(`${command} 2>&1`, options), { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close') as Promise<[number | null]>;
    await pipeline(child.stdout, createWriteStream(logFile));
    const [code] = await ended;
    return code ?? 1;
  }

  async installedPackages(): Promise<string[]> {
    return (await this.check("dpkg-query -W -f '${Package}\\n'")).split('\n');
  }

  async remove(): Promise<void> {
    await outputOf(['podman', 'rm', '--force', '--time', '5', this.#name]);
  }

  #exec(command: string, { user = 'root', cwd = '/' }: Options): string[] {
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const flags = ['--user', user, '--workdir', cwd, '--env', `HOME=${home}`];
    return ['exec', ...flags, this.#name, 'sh', '-c', command];
  }
}
