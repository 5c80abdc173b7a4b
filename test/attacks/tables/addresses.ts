import { networkInterfaces } from 'node:os';
import type { Attack, AttackGroup } from '../attack.ts';
import type { Inner } from '../inner.ts';
import { created, INVALID } from '../create-streams.ts';

const SCHEMES = ['http', 'https', 'rtsp', 'rtmp'];

/** An inner address in another spelling, by every scheme. */
const spelt = (name: string, spell: (inner: Inner) => string): Attack => ({
  name,
  expected: INVALID,
  attempt: async (target) => {
    const inner = await target.inner();
    return created(
      target,
      SCHEMES.map((scheme) => `${scheme}://${spell(inner)}:${inner.port}/inner`),
    );
  },
});

const forbidden = (name: string, ...hosts: string[]): Attack => ({
  name,
  expected: INVALID,
  attempt: (target) =>
    created(
      target,
      hosts.flatMap((host) => SCHEMES.map((scheme) => `${scheme}://${host}/`)),
    ),
});

const octets = ({ host }: Inner) => host.split('.').map(Number);
const number = (inner: Inner) => octets(inner).reduce((sum, octet) => sum * 256 + octet, 0);
const hex = (value: number, digits = 2) => value.toString(16).padStart(digits, '0');
const groupsOf = (inner: Inner) => {
  const [a = 0, b = 0, c = 0, d = 0] = octets(inner);
  return `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
};
const oct = (inner: Inner) =>
  octets(inner)
    .map((octet) => `0${octet.toString(8)}`)
    .join('.');
const mixed = ([a = 0, b = 0, c = 0, d = 0]: number[]) => `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`;
const short = ([a = 0, b = 0, c = 0, d = 0]: number[]) => `${a}.${b}.${c * 256 + d}`;
const circled = ({ host }: Inner) =>
  host.replaceAll(/\d/g, (digit) => String.fromCodePoint(digit === '0' ? 0x24ea : 0x245f + Number(digit)));

/** Other addresses of this machine, on which a service may listen to everybody. */
const ownAddresses = () =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);

export const addresses: AttackGroup = {
  title: 'Inner addresses in every spelling',
  wanted: 'a connection from inside the network to an address of the attacker’s choice',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    spelt('as it is', ({ host }) => host),
    spelt('as a number', (inner) => `${number(inner)}`),
    spelt('as a number beyond 32 bits', (inner) => `${number(inner) + 2 ** 32}`),
    spelt('as a hexadecimal number', (inner) => `0x${hex(number(inner), 8)}`),
    spelt('as an octal number', (inner) => `0${number(inner).toString(8)}`),
    spelt('in octal digits', oct),
    spelt('in hexadecimal digits', (inner) =>
      octets(inner)
        .map((octet) => `0x${hex(octet)}`)
        .join('.'),
    ),
    spelt('in digits of three kinds', (inner) => mixed(octets(inner))),
    spelt('in three parts', (inner) => short(octets(inner))),
    spelt('with zeros in front', (inner) =>
      octets(inner)
        .map((octet) => String(octet).padStart(3, '0'))
        .join('.'),
    ),
    spelt('with a dot behind', ({ host }) => `${host}.`),
    spelt('in circled digits', circled),
    spelt('in full-width digits', ({ host }) =>
      host.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ),
    spelt('with full-width dots', ({ host }) => host.replaceAll('.', '。')),
    spelt('with its digits encoded', ({ host }) => host.replaceAll(/\d/g, (digit) => `%3${digit}`)),
    spelt('in brackets', ({ host }) => `[${host}]`),
    spelt('mapped into IPv6', ({ host }) => `[::ffff:${host}]`),
    spelt('mapped into IPv6, in hexadecimal', (inner) => `[::ffff:${groupsOf(inner)}]`),
    spelt('mapped into IPv6, at full length', (inner) => `[0000:0000:0000:0000:0000:FFFF:${groupsOf(inner)}]`),
    spelt('compatible with IPv6', (inner) => `[::${groupsOf(inner)}]`),
    spelt('translated by SIIT', ({ host }) => `[::ffff:0:${host}]`),
    spelt('by NAT64', (inner) => `[64:ff9b::${groupsOf(inner)}]`),
    spelt('by NAT64 of a network of its own', (inner) => `[64:ff9b:1::${groupsOf(inner)}]`),
    spelt('by 6to4', (inner) => `[2002:${groupsOf(inner)}::1]`),
    spelt('by Teredo', (inner) => `[2001:0:${groupsOf(inner)}::1]`),
    spelt('by ISATAP', ({ host }) => `[fe80::5efe:${host}]`),
    spelt('with a zone', ({ host }) => `[::ffff:${host}%25lo]`),
    {
      name: 'the other addresses of the machine',
      expected: INVALID,
      attempt: (target) =>
        created(
          target,
          ['127.0.0.2', ...ownAddresses()].map((host) => `rtsp://${host}:8554/`),
        ),
    },
    forbidden('private networks', '10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.0.1', '[fd00::1]', '[fc00::1]'),
    forbidden(
      'metadata of clouds',
      '169.254.169.254',
      '[fd00:ec2::254]',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
    ),
    forbidden('nowhere and everywhere', '0.0.0.0', '0.1.2.3', '[::]', '255.255.255.255', '224.0.0.1', '[ff02::1]'),
    forbidden('links and shared networks', '169.254.0.1', '[fe80::1]', '100.64.0.1', '[fec0::1]'),
    forbidden(
      'networks for other purposes',
      '192.0.2.1',
      '198.51.100.1',
      '203.0.113.1',
      '198.18.0.1',
      '240.0.0.1',
      '[2001:db8::1]',
      '[3fff::1]',
      '[5f00::1]',
      '[100::1]',
    ),
    {
      name: 'ports of mail, databases, brokers and machines',
      expected: INVALID,
      attempt: (target) =>
        created(
          target,
          [22, 23, 25, 53, 110, 2375, 2379, 3306, 5432, 6379, 6443, 9092, 9200, 10250, 11211, 27017].map(
            (port) => `rtsp://8.8.8.8:${port}/`,
          ),
        ),
    },
  ],
};
