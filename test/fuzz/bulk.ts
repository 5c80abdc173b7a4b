import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Bulk } from './target.ts';

const MIB = 1024 * 1024;
/** The largest message that a reader takes. */
const MESSAGE_BYTES = 8 * MIB;
const STREAM_BYTES = 8 * MIB;
const PIECE_BYTES = 64 * 1024;
/** Processor time after which a stream is long enough to judge. */
const ENOUGH_MS = 200;
/** Memory for each byte, and garbage that is not collected yet. */
const HEAP_PER_BYTE = 16;
const GARBAGE_BYTES = 48 * MIB;

interface Cost {
  bytes: number;
  ms: number;
  /** Of the heap and of buffers, behind the last piece. */
  heapBytes: number;
}

/** Why an input is too expensive when it is made large; undefined when it is not. */
export async function bulkFault(bulk: Bulk, input: Buffer): Promise<string | undefined> {
  if (input.length === 0) return undefined;
  const { bytes, ms, heapBytes } = await costOf(bulk, input);
  // A stream that is refused at once says nothing.
  if (bytes === 0) return undefined;
  const msPerMiB = ms / (bytes / MIB);
  if (msPerMiB > bulk.mostMs) return `takes ${Math.round(msPerMiB)} ms for a MiB, ${bulk.mostMs} at most`;
  if (isTooMuch(heapBytes, bytes)) return `fills ${Math.round(heapBytes / bytes)} bytes for one`;
  return undefined;
}

async function costOf({ kind, open, mostBytes = MESSAGE_BYTES }: Bulk, input: Buffer): Promise<Cost> {
  const stop = new AbortController();
  const read = open(stop.signal);
  const before = { cpu: process.threadCpuUsage(), heap: heapBytes() };
  const spent = () => {
    const { user, system } = process.threadCpuUsage(before.cpu);
    return (user + system) / 1000;
  };
  let bytes = 0;
  let isRefused = false;
  for (const piece of kind === 'message' ? [messageOf(input, mostBytes)] : piecesOf(input)) {
    try {
      const pending = read(piece, input.length);
      if (pending instanceof Promise) await pending;
    } catch {
      isRefused = true;
    }
    // What it takes to refuse a message counts as much as to read it.
    if (kind === 'message' || !isRefused) bytes += piece.length;
    if (isRefused || spent() > ENOUGH_MS) break;
  }
  const ms = spent();
  let held = heapBytes() - before.heap;
  // When garbage is collected depends on the machine; only what is still held is a finding.
  if (isTooMuch(held, bytes)) {
    await collectGarbage();
    held = heapBytes() - before.heap;
  }
  stop.abort();
  return { bytes, ms, heapBytes: held };
}

const isTooMuch = (heapBytes: number, bytes: number) => heapBytes > HEAP_PER_BYTE * bytes + GARBAGE_BYTES;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Buffers are given back some time after their objects. */
async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    collect();
    await nextTurn();
  }
}

const heapBytes = () => getHeapStatistics().used_heap_size + process.memoryUsage().arrayBuffers;

/** The end of the input again and again behind it: entries of a table, units of a picture. */
function messageOf(input: Buffer, bytes: number): Buffer {
  const end = input.subarray(-Math.min(input.length, 1 + ((input.at(-1) ?? 0) % 16)));
  return Buffer.concat([input, Buffer.alloc(bytes - input.length, end)]);
}

function* piecesOf(input: Buffer): Generator<Buffer> {
  const whole = Buffer.alloc(Math.ceil(PIECE_BYTES / input.length) * input.length, input);
  for (let bytes = 0; bytes < STREAM_BYTES; bytes += whole.length) yield whole;
}
