import { getPriority } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '@vision/streams/source-error';
import { openLiveInput } from '../src/readers/open-live-input.ts';
import { createSourceAddresses } from '../src/readers/source-addresses.ts';
import type { LiveReader } from '../src/readers/live-reader.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, longSignal } from './support/live-watch.ts';
import { descriptors, membersOf } from './support/processes.ts';
import { readerTakenOver } from './support/stand-in.ts';

// Perl plays a reader that its stream has compromised: it is on every Debian and can make any system call.
let camera: Awaited<ReturnType<typeof tcpServer>>;
let inner: Awaited<ReturnType<typeof tcpServer>>;

beforeAll(async () => {
  camera = await tcpServer(() => undefined);
  inner = await tcpServer((socket) => socket.end(), '127.0.0.2');
});
afterAll(() => {
  camera.close();
  inner.close();
});

const OPENED = `fact('{"kind":"opened","container":"mpegts","delivery":"body"}');`;
const asking = (id: number, host: string, port: number) =>
  `fact('{"kind":"connect","id":${id},"host":"${host}","port":${port}}');`;

/** A source whose reader runs the script; only 127.0.0.1 may be reached. */
async function open(script: string, scheme = 'http'): Promise<LiveReader> {
  const sandbox = readerTakenOver(script);
  const policy = createAddressPolicy(['127.0.0.1/32']);
  const addresses = createSourceAddresses(policy, { deadlineMs: 170_000 });
  const url = `${scheme}://user:canary@127.0.0.1:${camera.port}/x/y`;
  const signal = longSignal();
  return openLiveInput(
    { addresses, sandbox, openTimeoutMs: 170_000, leaveMs: 1500 },
    { url, usage: {} },
    { isFirst: true, signal },
  );
}

/** The script's output on the descriptor for frames. */
async function said(script: string, scheme?: string): Promise<string> {
  const input = await open(`${OPENED} ${script} close($video); sleep 60;`, scheme);
  atEnd(input.close);
  let text = '';
  for await (const chunk of input.video) text += String(chunk);
  return text;
}

test.each([
  ['says no JSON', `fact('{"kind":'); sleep 60`],
  ['says what no reader says', `fact('{"kind":"taken","id":1,"more":1}'); sleep 60`],
  ['announces a fact of a gigabyte', `syswrite(STDOUT, pack("VV", 1, 1 << 30)); sleep 60`],
  ['speaks another language', `syswrite(STDOUT, "x" x 4096); sleep 60`],
  ['names a format that leads to other files', OPENED.replace('mpegts', 'concat')],
  ['says that it took a socket it was not given', `fact('{"kind":"taken","id":7}'); sleep 60`],
  ['asks for an address of any length', asking(1, 'a'.repeat(600), 80)],
  [
    'asks for more connections at once than it needs',
    `for (1..40) { ${asking(0, '127.0.0.1', 80).replace(':0,', ":'.\\$_.',")} } sleep 60`,
  ],
  ['dies', 'kill 9, $$; exit 1'],
])('a reader that %s ends only the attempt', async (_name, script) => {
  const before = descriptors().length;
  expect(await open(script).catch((error: unknown) => sourceReasonOf(error))).toBe('decoder_failed');
  await until(() => descriptors().length <= before);
});

test('it cannot write to the channel under any descriptor number', async () => {
  const attempts = {
    write: 'syscall(1, 4, $x, 1)',
    writev: 'syscall(20, 4, $vector, 1)',
    sendto: 'syscall(44, 4, $x, 1, 0, 0, 0)',
    dup: 'syscall(32, 4)',
    dup2: 'syscall(33, 4, 9)',
    dup3: 'syscall(292, 4, 9, 0)',
    F_DUPFD: 'syscall(72, 4, 0, 9)',
  };
  const script = Object.entries(attempts).map(([name, call]) => `print $video "${name} " if ${call} >= 0;`);
  expect(await said(`my $x = "x"; my $vector = pack("PQ", $x, 1); ${script.join(' ')} print $video "tried";`)).toBe(
    'tried',
  );
});

test('it can create no connection, and no socket for one', async () => {
  const script = [2, 10, 1].map((family) => `print $video "made " if syscall(41, ${family}, 1, 0) >= 0;`);
  expect(await said(`${script.join(' ')} print $video "tried";`)).toBe('tried');
});

test('it is connected only to targets that the rules allow, for any request', async () => {
  const hosts = ['127.0.0.2', '2130706434', '0177.0.0.2', '::ffff:127.0.0.2', 'user@127.0.0.2', '127.0.0.2/'];
  const asked = hosts.map((host, index) => asking(index + 1, host, inner.port));
  const text = await said(`${asked.join(' ')} print $video orders(${1 + hosts.length});`);
  expect(text.match(/address_forbidden/g)).toHaveLength(hosts.length);
  expect(inner.seen.connections).toBe(0);
});

test('over RTSP it is connected once, to the camera', async () => {
  const others = [asking(1, '127.0.0.1', camera.port + 1), asking(2, '127.0.0.1', camera.port)];
  const text = await said(`${others.join(' ')} print $video orders(3);`, 'rtsp');
  expect(text.match(/address_forbidden/g)).toHaveLength(2);
});

test('it knows its own source and has no other descriptor, file or variable of the service', async () => {
  const text = await said(`
    my @held; print $video "fds "; for (0 .. 63) { if (open(my $h, "<&=", $_)) { print $video "$_ "; push @held, $h } } print $video "end\\n";
    print $video join(",", sort keys %ENV), "\\n";
    for my $f ("/etc/passwd", "/proc/1/environ", "/proc/self/environ", "${process.cwd()}/package.json") {
      print $video "READ $f" if open(F, "<", $f) and defined(my $line = <F>);
    }
    print $video orders(1); exit;`);
  // 5 is the filter itself, where the sandbox leaves it open.
  expect(text).toMatch(/^fds 0 1 2 3 4 (5 )?end\n/);
  expect(text).not.toContain('READ');
  expect(text).not.toMatch(/TOKEN|SECRET|PASSWORD|DATABASE/);
  expect(text).toContain('canary');
});

test('it has a low priority, and its descriptors and processor time are bounded', async () => {
  const input = await open(`${OPENED} sleep 60`);
  atEnd(input.close);
  const [reader] = membersOf(input.processGroup ?? 0).filter(({ command }) => command.startsWith('perl'));
  expect(reader?.niceness).toBe(getPriority() + 5);
  expect(reader?.limits).toMatch(/Max open files\s+64\s/);
  expect(reader?.limits).toMatch(/Max cpu time\s+\d+\s/);
});
