import { existsSync, statSync } from 'node:fs';

/** Parameters of the sandbox of one program. */
interface IsolationPlan {
  /** Descriptor from which the seccomp filter is read. */
  filter: number;
  /** Files and folders that may be read besides the system's programs and libraries. */
  readable: readonly string[];
}

export type IsolationName = 'bubblewrap' | 'landlock';

/** A tool of the operating system that runs a program where it cannot reach the service. */
export interface Isolation {
  name: IsolationName;
  /** The command line before the program's own. */
  command(plan: IsolationPlan): string[];
}

const BUBBLEWRAP = [
  'bwrap',
  '--unshare-all',
  '--die-with-parent',
  '--clearenv',
  '--setenv',
  'PATH',
  '/usr/bin',
  '--cap-drop',
  'ALL',
  '--ro-bind',
  '/usr',
  '/usr',
  '--symlink',
  'usr/bin',
  '/bin',
  '--symlink',
  'usr/lib',
  '/lib',
  '--symlink',
  'usr/lib64',
  '/lib64',
  '--ro-bind-try',
  '/etc/alternatives',
  '/etc/alternatives',
  '--ro-bind-try',
  '/etc/ld.so.cache',
  '/etc/ld.so.cache',
  '--dev',
  '/dev',
];

/**
 * Namespaces of its own: no network, no processes of others, no /proc, no file but the system's and the one named.
 * Needs user namespaces, which many container platforms forbid. Without /proc, because mounting it fails under a masked
 * one. In the session that the spawn has begun, whose priority is that of the decoder.
 */
export const bubblewrap: Isolation = {
  name: 'bubblewrap',
  command: ({ filter, readable }) => [
    ...BUBBLEWRAP,
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    '--seccomp',
    String(filter),
  ],
};

const LANDLOCK = [
  'setpriv',
  '--no-new-privs',
  '--reset-env',
  '--pdeathsig',
  'KILL',
  '--landlock-access',
  'fs',
  '--seccomp-filter',
];
/** Where names of libraries lead; not there on every system, and a rule for what is not there is refused. */
const LIBRARY_NAMES = ['/etc/alternatives', '/etc/ld.so.cache'];

/**
 * Needs no namespaces, so it works in pods of the restricted profile: rules of the kernel's Landlock keep files, /proc
 * and other processes away (also those of the same user), the filter keeps the network away. setpriv knows both from
 * util-linux 2.41 on.
 */
export const landlock: Isolation = {
  name: 'landlock',
  command: ({ filter, readable }) => {
    const paths = ['/usr', '/dev/null', ...LIBRARY_NAMES.filter((path) => existsSync(path)), ...readable];
    const rules = paths.flatMap((path) => ['--landlock-rule', `path-beneath:${accessTo(path)}:${path}`]);
    return [...LANDLOCK, `/proc/self/fd/${filter}`, ...rules];
  },
};

const accessTo = (path: string) => (statSync(path).isDirectory() ? 'execute,read-file,read-dir' : 'read-file');
