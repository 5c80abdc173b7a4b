import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import type { Sandbox, SandboxedProgram } from '../src/sandbox/sandbox.ts';

// Perl stands in for a decoder that was taken over: it is on every Debian and can make any system call.
let sandbox: Sandbox;
let folder: string;
let inner: Server;
let innerHits = 0;

beforeAll(async () => {
  process.env['SANDBOX_TEST_SECRET'] = 'in-the-environment';
  sandbox = await createSandbox('require');
  folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
  await writeFile(join(folder, 'secret'), 'in-a-file');
  await writeFile(join(folder, 'input'), 'the input');
  inner = createServer((socket) => {
    innerHits += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(inner, 'listening');
});

afterAll(async () => {
  await sandbox.close();
  inner.close();
  await rm(folder, { recursive: true });
});

interface Ended {
  out: string;
  code: number | null;
  signal: string | null;
}

async function attack(script: string, more: Partial<SandboxedProgram> = {}): Promise<Ended> {
  const program = { program: 'perl', args: ['-e', `$| = 1; ${script}`], cpuSeconds: 20, ...more };
  const child = sandbox.spawn(program, ['ignore', 'pipe', 'pipe']);
  const out = text(child.stdout as NodeJS.ReadableStream);
  child.stderr?.resume();
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { out: await out, code, signal };
}

test('this machine has a wall for decoders', () => {
  expect(['bubblewrap', 'landlock']).toContain(sandbox.wall);
});

test.each([
  ['an address', () => `use Socket; print socket(S, PF_INET, SOCK_STREAM, 0) ? "made" : "refused"`],
  ['an IPv6 address', () => `use Socket; print socket(S, 10, SOCK_STREAM, 0) ? "made" : "refused"`],
  ['a socket of the machine', () => `use Socket; print socket(S, PF_UNIX, SOCK_STREAM, 0) ? "made" : "refused"`],
])('it makes no connection to %s', async (_name, script) => {
  expect((await attack(script())).out).toBe('refused');
});

test('a listener beside the service is never reached', async () => {
  const { port } = inner.address() as AddressInfo;
  const connect = `use Socket; socket(S, PF_INET, SOCK_STREAM, 0); connect(S, sockaddr_in(${port}, inet_aton("127.0.0.1")));`;
  await attack(`${connect} print "done"`);
  expect(innerHits).toBe(0);
});

test('it sees neither the environment of the service nor its files', async () => {
  const { out } = await attack(`
    print join(",", map { "$_=$ENV{$_}" } keys %ENV);
    for my $f ("${folder}/secret", "/etc/passwd", "/proc/1/environ", "/proc/${process.pid}/environ",
               "/proc/${process.pid}/fd", "/proc/self/environ", "${import.meta.filename}") {
      print "READ $f" if open(F, "<", $f) and defined(my $line = <F>);
      print "LIST $f" if opendir(D, $f) and readdir(D);
    }`);
  expect(out).not.toMatch(/READ|LIST|in-the-environment/);
});

test('the file it is given can be read, and not written', async () => {
  const file = join(folder, 'input');
  const { out } = await attack(`open(F, "<", "${file}"); print <F>; print open(G, ">", "${file}") ? "W" : "-"`, {
    readable: [file],
  });
  expect(out).toBe('the input-');
});

test('it has no descriptor but those it was given', async () => {
  const { out } = await attack(`for (0 .. 63) { print "$_ " if open(my $h, "<&=", $_) }`);
  // 3 is the filter itself, where the wall leaves it open: it holds no secret.
  expect(out).toMatch(/^0 1 2 (3 )?$/);
});

test('it reaches no other process: no memory, no signal, no priority', async () => {
  const { out } = await attack(`
    print "P" if syscall(101, 16, ${process.pid}, 0, 0) == 0;
    print "K" if kill(0, ${process.pid});
    print "N" if syscall(141, 0, ${process.pid}, 19) == 0;
    print "M" if open(F, "<", "/proc/${process.pid}/mem");`);
  expect(out).toBe('');
});

test('it starts no process', async () => {
  expect((await attack(`print defined(fork()) ? "forked" : "refused"`)).out).toBe('refused');
});

test('its memory is bounded', async () => {
  const script = `my $x = "x" x (600 * 1024 * 1024); print "has it"`;
  expect((await attack(script, { memoryBytes: 256 * 1024 * 1024 })).out).toBe('');
});

test('its processor time is bounded', async () => {
  const { code, signal } = await attack('1 while 1', { cpuSeconds: 1 });
  expect(code === 0 && signal === null).toBe(false);
});

test('it writes no file', async () => {
  const { out } = await attack(`
    for my $f ("/tmp/x", "/dev/shm/x", "/var/tmp/x", "${folder}/x", "/usr/x") {
      print "WROTE $f" if open(F, ">", $f) and print(F "x" x 10) and close(F);
    }`);
  expect(out).toBe('');
});

test('the attempts above succeed where there is no wall, so it is the wall that refuses them', async () => {
  const open = await createSandbox('off');
  const walled = sandbox;
  sandbox = open;
  try {
    expect((await attack('use Socket; print socket(S, PF_INET, SOCK_STREAM, 0) ? "made" : "refused"')).out).toBe(
      'made',
    );
    expect((await attack(`print "K" if kill(0, ${process.pid})`)).out).toBe('K');
    expect((await attack('print defined(fork()) ? "forked " : "refused"')).out).toMatch(/^forked/);
    expect((await attack(`open(F, "<", "${folder}/secret"); print <F>`)).out).toBe('in-a-file');
  } finally {
    sandbox = walled;
    await open.close();
  }
});

test('where no wall works and one is required, nothing is started', async () => {
  const without = await createSandbox('require', []);
  expect(without.wall).toBe('none');
  expect(() => without.spawn({ program: 'true', args: [] }, [])).toThrow('no wall');
  await without.close();
});
