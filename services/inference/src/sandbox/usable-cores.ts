import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/** Where the kernel lists the control groups of a process. */
interface Sources {
  cores: number;
  /** `/proc/self/cgroup` */
  membership: string;
  /** Where the groups are mounted. */
  root: string;
}

/**
 * How many threads can compute at once: the cores that this process sees, or fewer when its control group or one around
 * it may use less. Node.js knows such limits on some systems only (not where version 1 has the processor).
 */
export function usableCores(sources: Partial<Sources> = {}): number {
  const { cores = availableParallelism(), membership = '/proc/self/cgroup', root = '/sys/fs/cgroup' } = sources;
  const limits = textOf(membership)
    .split('\n')
    .flatMap((line) => limitsOf(line, root));
  return Math.max(1, Math.floor(Math.min(cores, ...limits)));
}

/** A line is `<number>:<controllers>:<path>`; version 2 names no controllers. */
function limitsOf(line: string, root: string): number[] {
  const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
  if (controllers === '') return upwards(root, path).map(limitOfVersion2);
  if (!controllers.split(',').includes('cpu')) return [];
  return [controllers, 'cpu'].flatMap((mount) => upwards(join(root, mount), path).map(limitOfVersion1));
}

/** The group and those around it. Inside a container the path may lead to nothing, and its own group is the root. */
function upwards(root: string, path: string): string[] {
  const folders = [join(root, path)];
  for (let at = path; at !== '/' && at !== '.'; at = dirname(at)) folders.push(join(root, dirname(at)));
  return folders;
}

function limitOfVersion2(folder: string): number {
  const [quota = 'max', period = ''] = textOf(join(folder, 'cpu.max')).trim().split(' ');
  return share(Number(quota), Number(period));
}

function limitOfVersion1(folder: string): number {
  const number = (name: string) => Number(textOf(join(folder, name)) || NaN);
  return share(number('cpu.cfs_quota_us'), number('cpu.cfs_period_us'));
}

const share = (quota: number, period: number) => (quota > 0 && period > 0 ? quota / period : Infinity);

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
