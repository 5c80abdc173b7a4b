import { expect, test } from '@jest/globals';
import { buildSeccompFilter } from './seccomp-filter.ts';
import type { FilterArchitecture } from './seccomp-filter.ts';

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

interface Call {
  number: number;
  args?: number[];
  audit?: number;
}

/** What the kernel would decide: runs the filter on one system call, as `linux/filter.h` describes its operations. */
function decide(architecture: FilterArchitecture, call: Call, channel?: number): string {
  const program = buildSeccompFilter(architecture, channel);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.audit ?? ARCHITECTURES[architecture], 4);
  (call.args ?? []).forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + 8 * index));
  let register = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = program.readUInt16LE(8 * at);
    const value = program.readUInt32LE(8 * at + 4);
    const skip = (holds: boolean) => (at += program.readUInt8(8 * at + (holds ? 2 : 3)));
    if (code === 0x20) register = data.readUInt32LE(value);
    else if (code === 0x15) skip(register === value);
    else if (code === 0x35) skip(register >= value);
    else if (code === 0x45) skip((register & value) !== 0);
    else if (value === 0x7fff0000) return 'allowed';
    else return value === 0x80000000 ? 'killed' : `errno ${value & 0xffff}`;
  }
  return 'fell off the end';
}

const THREAD = 0x003d0f00;

test.each<[string, { number: number; args?: number[] }, string]>([
  ['read', { number: 0 }, 'allowed'],
  ['openat for reading', { number: 257, args: [0, 0, 0x80000] }, 'allowed'],
  ['openat for writing', { number: 257, args: [0, 0, 1] }, 'errno 1'],
  ['openat for reading and writing', { number: 257, args: [0, 0, 2] }, 'errno 1'],
  ['openat that makes a file', { number: 257, args: [0, 0, 0x40] }, 'errno 1'],
  ['open for reading', { number: 2, args: [0, 0] }, 'allowed'],
  ['open that makes a file', { number: 2, args: [0, 0x241] }, 'errno 1'],
  ['memory of its own', { number: 9, args: [0, 4096, 3, 0x22] }, 'allowed'],
  ['memory that is shared', { number: 9, args: [0, 4096, 3, 0x21] }, 'errno 1'],
  ['a file in memory, shared', { number: 9, args: [0, 4096, 1, 0x01] }, 'allowed'],
  ['socket', { number: 41 }, 'errno 1'],
  ['socketpair', { number: 53 }, 'errno 1'],
  ['connect', { number: 42 }, 'errno 1'],
  ['sendmsg', { number: 46 }, 'errno 1'],
  ['ptrace', { number: 101 }, 'errno 1'],
  ['process_vm_readv', { number: 310 }, 'errno 1'],
  ['kill', { number: 62 }, 'errno 1'],
  ['tgkill', { number: 234 }, 'errno 1'],
  ['pidfd_send_signal', { number: 424 }, 'errno 1'],
  ['fork', { number: 57 }, 'errno 1'],
  ['vfork', { number: 58 }, 'errno 1'],
  ['clone of a thread', { number: 56, args: [THREAD] }, 'allowed'],
  ['clone of a process', { number: 56, args: [17] }, 'errno 1'],
  ['clone into a new user namespace', { number: 56, args: [THREAD | 0x10000000] }, 'errno 1'],
  ['clone3', { number: 435 }, 'errno 38'],
  ['unshare', { number: 272 }, 'errno 1'],
  ['setns', { number: 308 }, 'errno 1'],
  ['mount', { number: 165 }, 'errno 1'],
  ['bpf', { number: 321 }, 'errno 1'],
  ['io_uring_setup', { number: 425 }, 'errno 1'],
  ['keyctl', { number: 250 }, 'errno 1'],
  ['setpriority', { number: 141 }, 'errno 1'],
  ['sched_setaffinity', { number: 203 }, 'errno 1'],
  ['limits of its own', { number: 302, args: [0] }, 'allowed'],
  ['limits of another process', { number: 302, args: [1] }, 'errno 1'],
  ['fcntl that sets a flag', { number: 72, args: [0, 4] }, 'allowed'],
  ['fcntl that directs signals to a process', { number: 72, args: [0, 8, 1] }, 'errno 1'],
  ['ioctl that asks for waiting bytes', { number: 16, args: [0, 0x541b] }, 'allowed'],
  ['ioctl that types into a terminal', { number: 16, args: [0, 0x5412] }, 'errno 1'],
  ['a call of the x32 interface', { number: 0x40000000 }, 'killed'],
])('on x86-64: %s', (_name, call, expected) => {
  expect(decide('x64', call)).toBe(expected);
});

test.each<[string, { number: number; args?: number[] }, string]>([
  ['read', { number: 63 }, 'allowed'],
  ['openat that makes a file', { number: 56, args: [0, 0, 0x41] }, 'errno 1'],
  ['memory that is shared', { number: 222, args: [0, 4096, 3, 0x21] }, 'errno 1'],
  ['socket', { number: 198 }, 'errno 1'],
  ['connect', { number: 203 }, 'errno 1'],
  ['ptrace', { number: 117 }, 'errno 1'],
  ['clone of a thread', { number: 220, args: [THREAD] }, 'allowed'],
  ['clone of a process', { number: 220, args: [17] }, 'errno 1'],
  ['kill', { number: 129 }, 'errno 1'],
])('on ARM64: %s', (_name, call, expected) => {
  expect(decide('arm64', call)).toBe(expected);
});

test.each<[string, Call, string]>([
  ['write to the channel', { number: 1, args: [4] }, 'errno 1'],
  ['write to the channel by another spelling of its number', { number: 1, args: [2 ** 32 + 4] }, 'errno 1'],
  ['write to another descriptor', { number: 1, args: [3] }, 'allowed'],
  ['writev to the channel', { number: 20, args: [4] }, 'errno 1'],
  ['sendmsg', { number: 46, args: [4] }, 'errno 1'],
  ['sendto', { number: 44, args: [4] }, 'errno 1'],
  ['recvmsg', { number: 47, args: [4] }, 'allowed'],
  ['dup of the channel', { number: 32, args: [4] }, 'errno 1'],
  ['dup3 of the channel', { number: 292, args: [4, 9] }, 'errno 1'],
  ['F_DUPFD of the channel', { number: 72, args: [4, 0] }, 'errno 1'],
  ['F_DUPFD_CLOEXEC of the channel', { number: 72, args: [4, 1030] }, 'errno 1'],
  ['fcntl that directs signals to a process', { number: 72, args: [0, 8, 1] }, 'errno 1'],
  ['socket', { number: 41 }, 'errno 1'],
  ['connect', { number: 42 }, 'errno 1'],
])('with a channel: %s', (_name, call, expected) => {
  expect(decide('x64', call, 4)).toBe(expected);
});

test('without a channel nothing is received by messages', () => {
  expect(decide('x64', { number: 47 })).toBe('errno 1');
});

test('a call of another architecture ends the process', () => {
  expect(decide('x64', { number: 0, audit: 0x40000003 })).toBe('killed');
});
