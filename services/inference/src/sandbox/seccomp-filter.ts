import { syscalls } from './syscalls.ts';
import type { Syscall } from './syscalls.ts';

export type FilterArchitecture = 'x64' | 'arm64';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of `linux/audit.h`. */
const architectures: Record<FilterArchitecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Operations of classic BPF as `linux/bpf_common.h` numbers them. */
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in `struct seccomp_data`; arguments are read by their lower half. */
const SYSCALL = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

/** Results of `linux/seccomp.h`. */
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;

const CLONE_THREAD = 0x00010000;
/** All CLONE_NEW… flags: mounts, cgroup, UTS, IPC, user, processes, network, time. */
const CLONE_NAMESPACES = 0x7e020080;
/** F_SETOWN, F_SETSIG, F_SETOWN_EX: would let the kernel signal another process of the same user. */
const FCNTL_REFUSED = [8, 10, 15];
/** F_DUPFD, F_DUPFD_CLOEXEC. */
const FCNTL_DUPLICATES = [0, 1030];
/** TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX: what a C library asks of its own descriptors. */
const IOCTL_ALLOWED = [0x5401, 0x5413, 0x541b, 0x5421, 0x5451];

/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC. */
const OPEN_FOR_WRITING = 0x243;
const MAP_ANONYMOUS = 0x20;
/** Set in MAP_SHARED and MAP_SHARED_VALIDATE, not in MAP_PRIVATE. */
const MAP_SHARED = 0x01;

interface Instruction {
  code: number;
  /** How many instructions are passed over when the comparison holds, and when it does not. */
  whenTrue?: number;
  whenFalse?: number;
  value: number;
}

const give = (result: number): Instruction => ({ code: RETURN, value: result });
const load = (offset: number): Instruction => ({ code: LOAD, value: offset });

/**
 * A seccomp filter for a decoder as the kernel takes it (`struct sock_filter[]`, 8 bytes each, little endian): only the
 * system calls of `syscalls` pass, and of those that could start processes, reach other processes or change devices
 * only harmless uses. Everything else fails with EPERM, a call of another architecture ends the process.
 * @param channel the descriptor on which a program gets sockets. It can write nothing there, nor give the descriptor
 * another number: the other end would keep all that comes.
 */
export function buildSeccompFilter(architecture: FilterArchitecture, channel?: number): Buffer {
  const verdicts =
    channel === undefined ? { ...conditional, ...withoutChannel } : { ...conditional, ...withChannel(channel) };
  const program: Instruction[] = [
    load(ARCHITECTURE),
    { code: JUMP_EQUAL, value: architectures[architecture], whenTrue: 1 },
    give(KILL_PROCESS),
    load(SYSCALL),
  ];
  // x32 calls carry this bit and would be other calls under the same numbers.
  if (architecture === 'x64')
    program.push({ code: JUMP_AT_LEAST, value: 0x40000000, whenFalse: 1 }, give(KILL_PROCESS));
  for (const name of Object.keys(syscalls) as Syscall[]) {
    const number = syscalls[name][architecture];
    if (number === undefined) continue;
    const verdict = verdicts[name]?.() ?? [give(ALLOW)];
    program.push({ code: JUMP_EQUAL, value: number, whenFalse: verdict.length }, ...verdict);
  }
  program.push(give(fail(EPERM)));
  return encode(program);
}

const conditional: Partial<Record<Syscall, () => Instruction[]>> = {
  // For reading only: behind bubblewrap, /dev and the root are file systems in memory, and empty files would fill it.
  open: () => openForReading(1),
  openat: () => openForReading(2),
  // Anonymous memory that is shared does not count for the limit of memory.
  mmap: () => [
    load(argument(3)),
    { code: JUMP_ANY_BIT, value: MAP_ANONYMOUS, whenFalse: 2 },
    { code: JUMP_ANY_BIT, value: MAP_SHARED, whenFalse: 1 },
    give(fail(EPERM)),
    give(ALLOW),
  ],
  // Threads, no processes and no namespaces.
  clone: () => [
    load(argument(0)),
    { code: JUMP_ANY_BIT, value: CLONE_NAMESPACES, whenTrue: 2 },
    { code: JUMP_ANY_BIT, value: CLONE_THREAD, whenFalse: 1 },
    give(ALLOW),
    give(fail(EPERM)),
  ],
  // Its flags lie in memory, where a filter cannot look; the C library then uses clone.
  clone3: () => [give(fail(ENOSYS))],
  fcntl: () => [load(argument(1)), ...refuse(FCNTL_REFUSED), give(ALLOW)],
  ioctl: () => [load(argument(1)), ...allow(IOCTL_ALLOWED), give(fail(EPERM))],
  // Its own limits only.
  prlimit64: () => [load(argument(0)), ...allow([0]), give(fail(EPERM))],
};

const withoutChannel: typeof conditional = { recvmsg: () => [give(fail(EPERM))] };

const withChannel = (channel: number): typeof conditional => ({
  write: () => [load(argument(0)), ...refuse([channel]), give(ALLOW)],
  writev: () => [load(argument(0)), ...refuse([channel]), give(ALLOW)],
  dup: () => [give(fail(EPERM))],
  dup3: () => [give(fail(EPERM))],
  fcntl: () => [load(argument(1)), ...refuse([...FCNTL_REFUSED, ...FCNTL_DUPLICATES]), give(ALLOW)],
});

const openForReading = (flags: number): Instruction[] => [
  load(argument(flags)),
  { code: JUMP_ANY_BIT, value: OPEN_FOR_WRITING, whenFalse: 1 },
  give(fail(EPERM)),
  give(ALLOW),
];

const allow = (values: readonly number[]) => values.flatMap((value) => whenEqual(value, ALLOW));
const refuse = (values: readonly number[]) => values.flatMap((value) => whenEqual(value, fail(EPERM)));

function whenEqual(value: number, result: number): Instruction[] {
  return [{ code: JUMP_EQUAL, value, whenFalse: 1 }, give(result)];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  program.forEach(({ code, whenTrue = 0, whenFalse = 0, value }, index) => {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(whenTrue, 8 * index + 2);
    bytes.writeUInt8(whenFalse, 8 * index + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4);
  });
  return bytes;
}
