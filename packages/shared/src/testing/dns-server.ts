import { createSocket } from 'node:dgram';
import type { RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';

/** What is answered to one query: addresses of both families, or something else that name servers do. */
export type DnsAnswer =
  | { addresses: string[]; cname?: string; afterMs?: number }
  | 'nxdomain'
  | 'servfail'
  | 'silent'
  /** A name that exists and has no address. */
  | 'nothing'
  /** Bytes that are no answer. */
  | 'garbage';

export interface DnsQuestion {
  name: string;
  type: 'A' | 'AAAA';
}

export interface TestDnsServer {
  /** For STREAM_DNS_SERVERS. */
  address: string;
  /** Every query that arrived, repeats included. */
  asked: DnsQuestion[];
  close: () => Promise<void>;
}

/** A name server on a UDP port of loopback, on any that is free unless one is named, that says what the test wants. */
export async function startDnsServer(
  answerTo: (question: DnsQuestion, timesAsked: number) => DnsAnswer,
  port = 0,
): Promise<TestDnsServer> {
  const socket = createSocket('udp4');
  const asked: DnsQuestion[] = [];
  const closing = new AbortController();
  const reply = async (query: Buffer, from: RemoteInfo) => {
    const question = questionOf(query);
    if (question === undefined) return;
    const times = asked.push(question) && asked.filter((one) => sameQuestion(one, question)).length;
    const answer = answerTo(question, times);
    if (answer === 'silent') return;
    if (typeof answer === 'object' && answer.afterMs)
      await delay(answer.afterMs, undefined, { signal: closing.signal });
    socket.send(messageOf(query, question, answer), from.port, from.address);
  };
  socket.on('message', (query, from) => void reply(query, from).catch(() => undefined));
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: async () => {
      closing.abort();
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

const HEADER_BYTES = 12;
const A = 1;
const CNAME = 5;
const AAAA = 28;
const IN = 1;
const rcodes = { nothing: 0, servfail: 2, nxdomain: 3 };

const sameQuestion = (left: DnsQuestion, right: DnsQuestion) => left.name === right.name && left.type === right.type;

/** The one question of a query (RFC 1035, 4.1.2), if it asks for addresses. */
function questionOf(query: Buffer): DnsQuestion | undefined {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  const type = query.readUInt16BE(offset + 1);
  if (type !== A && type !== AAAA) return undefined;
  return { name: labels.join('.').toLowerCase(), type: type === A ? 'A' : 'AAAA' };
}

function messageOf(query: Buffer, question: DnsQuestion, answer: Exclude<DnsAnswer, 'silent'>): Buffer {
  const id = query.subarray(0, 2);
  if (answer === 'garbage') return Buffer.concat([id, Buffer.from([0x81, 0x80, 0xff, 0xff, 0xff])]);
  const records = typeof answer === 'string' ? [] : recordsOf(question, answer);
  const header = Buffer.alloc(HEADER_BYTES);
  id.copy(header);
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? rcodes[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([
    header,
    encodeName(question.name),
    encodeNumbers(question.type === 'A' ? A : AAAA, IN),
    ...records,
  ]);
}

function recordsOf(
  { name, type }: DnsQuestion,
  { addresses, cname }: { addresses: string[]; cname?: string },
): Buffer[] {
  const kind = type === 'A' ? 'ipv4' : 'ipv6';
  const parsed = addresses.map((address) => ipaddr.parse(address)).filter((address) => address.kind() === kind);
  return [
    ...(cname === undefined ? [] : [encodeRecord(name, CNAME, encodeName(cname))]),
    ...parsed.map((address) =>
      encodeRecord(cname ?? name, type === 'A' ? A : AAAA, Buffer.from(address.toByteArray())),
    ),
  ];
}

function encodeRecord(name: string, type: number, data: Buffer): Buffer {
  return Buffer.concat([encodeName(name), encodeNumbers(type, IN, 0, 60, data.length), data]);
}

/** 16-bit numbers as they stand in a message; a time to live is two of them. */
function encodeNumbers(...numbers: number[]): Buffer {
  return Buffer.concat(numbers.map((number) => Buffer.from([number >> 8, number & 0xff])));
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
