import type { Feedback } from './feedback.ts';
import type { Random } from './random.ts';

export interface MutationSources {
  random: Random;
  feedback: Feedback;
  /** Literals of the sources, as bytes. */
  words: readonly Buffer[];
  maxBytes: number;
  /** Another input that did something of its own. */
  other: () => Buffer;
}

type Mutation = (bytes: Buffer, sources: MutationSources) => Buffer;

const EDGE_BYTES = [0, 1, 0x7f, 0x80, 0xff, 0x20, 0x0a, 0x0d, 0x3a, 0x2e];
const EDGE_NUMBERS = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2147483647, 2147483648, 4294967295];

/** One to five small changes, one after the other. */
export function mutate(bytes: Buffer, sources: MutationSources): Buffer {
  const { random, maxBytes } = sources;
  let changed: Buffer = Buffer.from(bytes);
  for (let turns = 1 + random.below(5); turns > 0; turns -= 1) changed = random.pick(mutations)(changed, sources);
  return changed.subarray(0, maxBytes);
}

/** `inserted` at `at`, in place of `removed` bytes. */
function splice(bytes: Buffer, at: number, removed: number, inserted: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
}

function rangeOf(bytes: Buffer, random: Random): Buffer {
  const from = random.below(bytes.length);
  return bytes.subarray(from, from + 1 + random.below(Math.min(bytes.length - from, 1 + random.below(256))));
}

const erase: Mutation = (bytes, { random }) => {
  const at = random.below(bytes.length);
  return splice(bytes, at, 1 + random.below(Math.max(1, (bytes.length - at) >> random.below(6))), Buffer.of());
};

const insertByte: Mutation = (bytes, { random }) => {
  const value = random.below(3) === 0 ? random.pick(EDGE_BYTES) : random.below(256);
  return splice(bytes, random.below(bytes.length + 1), 0, Buffer.alloc(1 + random.below(4), value));
};

const insertRun: Mutation = (bytes, { random }) =>
  splice(bytes, random.below(bytes.length + 1), 0, Buffer.alloc(3 + random.below(125), random.below(256)));

const changeByte: Mutation = (bytes, { random }) => {
  if (bytes.length === 0) return bytes;
  bytes[random.below(bytes.length)] = random.below(3) === 0 ? random.pick(EDGE_BYTES) : random.below(256);
  return bytes;
};

const changeBit: Mutation = (bytes, { random }) => {
  if (bytes.length === 0) return bytes;
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes;
};

const changeDigits: Mutation = (bytes, { random }) => {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  if (numbers.length === 0) return bytes;
  const { 0: digits, index } = random.pick(numbers);
  const value = Number(digits);
  const others = [
    value + 1,
    value - 1,
    value * 2,
    random.below(256),
    random.pick(EDGE_NUMBERS),
    10 ** random.below(19),
  ];
  return splice(bytes, index, digits.length, Buffer.from(String(random.pick(others))));
};

const changeNumber: Mutation = (bytes, { random }) => {
  const size = random.pick([1, 2, 3, 4]);
  if (bytes.length < size) return bytes;
  const at = random.below(bytes.length - size + 1);
  const isLittle = random.below(2) === 0;
  const value = isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
  const others = [
    value + 1 + random.below(9),
    value - 1 - random.below(9),
    random.pick(EDGE_NUMBERS),
    bytes.length - at,
  ];
  const other = (random.pick(others) + 2 ** 32) % 2 ** (8 * size);
  if (isLittle) bytes.writeUIntLE(other, at, size);
  else bytes.writeUIntBE(other, at, size);
  return bytes;
};

const copyPart: Mutation = (bytes, { random }) => {
  if (bytes.length === 0) return bytes;
  const part = Buffer.from(rangeOf(bytes, random));
  const at = random.below(bytes.length + 1);
  return splice(bytes, at, random.below(2) === 0 ? 0 : part.length, part);
};

const takeFromOther: Mutation = (bytes, { random, other }) => {
  const source = other();
  if (source.length === 0) return bytes;
  const at = random.below(bytes.length + 1);
  if (random.below(3) === 0)
    return Buffer.concat([bytes.subarray(0, at), source.subarray(random.below(source.length))]);
  return splice(bytes, at, random.below(2) * random.below(64), rangeOf(source, random));
};

const useWord: Mutation = (bytes, { random, words }) => {
  if (words.length === 0) return bytes;
  const word = random.pick(words);
  return splice(bytes, random.below(bytes.length + 1), random.below(2) * word.length, word);
};

/** Puts what the code wanted to see in the place of what it saw. */
const satisfyComparison: Mutation = (bytes, { random, feedback }) => {
  const at = random.below(feedback.compared.length / 2) * 2;
  const sides = [feedback.compared[at], feedback.compared[at + 1]];
  const [seen, wanted] = random.below(2) === 0 ? sides : sides.reverse();
  if (seen === undefined || wanted === undefined) return bytes;
  for (const [from, to] of spellings(seen, wanted, random)) {
    const found = bytes.indexOf(from, random.below(bytes.length));
    const place = found < 0 ? bytes.indexOf(from) : found;
    if (place >= 0) return splice(bytes, place, from.length, to);
  }
  return bytes;
};

/** The ways in which a pair may stand in the input. */
function spellings(seen: unknown, wanted: unknown, random: Random): [Buffer, Buffer][] {
  const texts: [Buffer, Buffer] = [Buffer.from(String(seen), 'latin1'), Buffer.from(String(wanted), 'latin1')];
  if (typeof seen !== 'number' || typeof wanted !== 'number' || seen < 0 || wanted < 0) return [texts];
  const target = wanted + random.pick([0, 0, 0, 1, -1]);
  const ways: [Buffer, Buffer][] = [texts];
  for (const size of [1, 2, 4, 3]) {
    if (Math.max(seen, target) >= 2 ** (8 * size) || target < 0) continue;
    const [from, to] = [Buffer.alloc(size), Buffer.alloc(size)];
    from.writeUIntBE(seen, 0, size);
    to.writeUIntBE(target, 0, size);
    ways.push([from, to], [Buffer.from(from).reverse(), Buffer.from(to).reverse()]);
  }
  const first = random.below(ways.length);
  return [...ways.slice(first), ...ways.slice(0, first)];
}

const mutations: readonly Mutation[] = [
  erase,
  insertByte,
  insertRun,
  changeByte,
  changeByte,
  changeBit,
  changeDigits,
  changeNumber,
  changeNumber,
  copyPart,
  takeFromOther,
  useWord,
  satisfyComparison,
  satisfyComparison,
];
