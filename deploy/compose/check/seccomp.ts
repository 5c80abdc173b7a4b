import { readFileSync, writeFileSync } from 'node:fs';

interface Rule {
  names: string[];
  action: string;
  args?: unknown[];
  errnoRet?: number;
  includes?: object;
  excludes?: object;
}

/** What Docker's default profile keeps from a container and podman's does not; Kubernetes nodes do as Docker does. */
const KEPT_BY_DOCKER = [
  'add_key',
  'fsconfig',
  'fsmount',
  'fsopen',
  'fspick',
  'keyctl',
  'mount',
  'mount_setattr',
  'move_mount',
  'open_tree',
  'pivot_root',
  'request_key',
  'setns',
  'umount',
  'umount2',
  'unshare',
];

/** Flags of clone that make namespaces. */
const NEW_NAMESPACES = 0x7e020000;
const EPERM = 1;
const ENOSYS = 38;

/**
 * Writes podman's default seccomp profile with what Docker's leaves out taken out of it: no container makes namespaces
 * or mounts. Returns the file.
 */
export function writeStrictProfile(file: string): string {
  const profile = JSON.parse(readFileSync('/usr/share/containers/seccomp.json', 'utf8')) as { syscalls: Rule[] };
  const kept = new Set([...KEPT_BY_DOCKER, 'clone', 'clone3']);
  const others = profile.syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => !kept.has(name)) }));
  const own: Rule[] = [
    { names: KEPT_BY_DOCKER, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    {
      names: ['clone'],
      action: 'SCMP_ACT_ALLOW',
      args: [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
    },
    // Its flags are in memory, where no filter sees them; programs then use clone.
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  ];
  const syscalls = [...others.filter((rule) => rule.names.length > 0), ...own];
  writeFileSync(file, JSON.stringify({ ...profile, syscalls }));
  return file;
}
